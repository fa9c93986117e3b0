// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device function with a barrier inside, called twice with the same LDS slots: the second call's writes race with the
// first call's reads. No loop contains both, and the barrier of the first call comes before its reads.
// RUN: %twin --fix "put __syncthreads\(\) between line {FIRST-CALL} and line {SECOND-CALL} of slots_used_twice.hip \(in sums" %s
#include "twin.h"

constexpr int kSize = 256;

__device__ int sumOfWaves(int value, int *slots) {
  int wave = threadIdx.x / warpSize;
  for (int offset = warpSize / 2; offset > 0; offset /= 2)
    value += __shfl_xor(value, offset);
  if (threadIdx.x % warpSize == 0)
    slots[wave] = value; // RACE-A
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < int(blockDim.x) / warpSize; ++i)
    sum += slots[i]; // RACE-B
  BARRIER_IF_FIXED();
  return sum;
}

__global__ void sums(const int *in, int *out) {
  __shared__ int slots[32];
  int t = threadIdx.x;
  int first = sumOfWaves(in[t], slots); // FIRST-CALL
  int second = sumOfWaves(in[t] * 2, slots); // SECOND-CALL
  out[t] = first + second;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  sums<<<1, kSize>>>(in, out);
  int expected = 0;
  for (int i = 0; i < kSize; ++i)
    expected += 3 * (1000 + i);
  return twin::compare(twin::fromDevice(out, kSize), [=](size_t) { return expected; });
}
