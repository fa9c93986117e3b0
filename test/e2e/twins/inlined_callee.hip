// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The accesses lie in functions that are inlined; the report names the lines inside them.
// RUN: %twin %s
#include "twin.h"

constexpr int kSize = 256;

__device__ __forceinline__ void put(int *tile, int index, int value) {
  tile[index] = value * 2; // RACE-A
}

__device__ __forceinline__ int get(const int *tile, int index) {
  return tile[index] + 1; // RACE-B
}

__global__ void exchange(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x;
  put(tile, t, in[t]);
  BARRIER_IF_FIXED();
  out[t] = get(tile, t ^ 128);
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  exchange<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) { return int(1000 + (i ^ 128)) * 2 + 1; });
}
