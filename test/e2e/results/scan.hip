// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inclusive prefix sums: Hillis-Steele in each workgroup with two buffers, the sums of the workgroups added by a second kernel.
// RUN: %clean --kernels=2 %s
#include "twin.h"

constexpr int kThreads = 256, kGroups = 12, kSize = kThreads * kGroups;

__global__ void scanGroups(const int *in, int *out, int *sums) {
  __shared__ int buffer[2][kThreads];
  int t = threadIdx.x, from = 0;
  buffer[0][t] = in[blockIdx.x * kThreads + t];
  __syncthreads();
  for (int distance = 1; distance < kThreads; distance *= 2) {
    buffer[1 - from][t] = buffer[from][t] + (t >= distance ? buffer[from][t - distance] : 0);
    from = 1 - from;
    __syncthreads();
  }
  out[blockIdx.x * kThreads + t] = buffer[from][t];
  if (t == kThreads - 1)
    sums[blockIdx.x] = buffer[from][t];
}

__global__ void addSums(int *out, const int *sums) {
  __shared__ int before;
  if (threadIdx.x == 0) {
    int sum = 0;
    for (unsigned g = 0; g < blockIdx.x; ++g)
      sum += sums[g];
    before = sum;
  }
  __syncthreads();
  out[blockIdx.x * kThreads + threadIdx.x] += before;
}

int main() {
  std::vector<int> numbers, expected;
  int sum = 0;
  for (int i = 0; i < kSize; ++i) {
    numbers.push_back(i * 7 % 23 - 11);
    expected.push_back(sum += numbers.back());
  }
  int *in = twin::onDevice(numbers), *out = twin::onDevice(std::vector<int>(kSize)), *sums = twin::onDevice(std::vector<int>(kGroups));
  scanGroups<<<kGroups, kThreads>>>(in, out, sums);
  addSums<<<kGroups, kThreads>>>(out, sums);
  return twin::compare(twin::fromDevice(out, kSize), [&](size_t i) { return expected[i]; });
}
