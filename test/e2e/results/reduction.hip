// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums 65536 numbers: grid-stride loop, tree in dynamic LDS, one partial sum per workgroup.
// RUN: %clean %s
#include "twin.h"

constexpr int kThreads = 256, kGroups = 16, kSize = 1 << 16;
extern __shared__ unsigned long long partial[];

__global__ void sum(const unsigned *in, unsigned long long *out, int n) {
  int t = threadIdx.x;
  unsigned long long mine = 0;
  for (int i = blockIdx.x * kThreads + t; i < n; i += gridDim.x * kThreads)
    mine += in[i];
  partial[t] = mine;
  __syncthreads();
  for (int stride = kThreads / 2; stride > 0; stride /= 2) {
    if (t < stride)
      partial[t] += partial[t + stride];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = partial[0];
}

int main() {
  std::vector<unsigned> numbers = twin::counting<unsigned>(kSize);
  unsigned *in = twin::onDevice(numbers);
  auto *out = twin::onDevice(std::vector<unsigned long long>(kGroups));
  sum<<<kGroups, kThreads, kThreads * sizeof(unsigned long long)>>>(in, out, kSize);
  unsigned long long total = 0, expected = 0;
  for (unsigned long long part : twin::fromDevice(out, kGroups))
    total += part;
  for (unsigned n : numbers)
    expected += n;
  std::printf("sum %llu, expected %llu\n", total, expected);
  return twin::verdict(total != expected);
}
