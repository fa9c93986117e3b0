// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The accesses lie in functions that stay calls, through generic pointers.
// RUN: %twin %s
#include "twin.h"

constexpr int kSize = 128;

__device__ __attribute__((noinline)) void put(int *where, int value) {
  *where = value + 5; // RACE-A
}

__device__ __attribute__((noinline)) int get(const int *where) {
  return *where - 5; // RACE-B
}

__global__ void exchange(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x;
  put(&tile[t], in[t]);
  BARRIER_IF_FIXED();
  out[t] = get(&tile[(t + 64) % kSize]);
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  exchange<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) { return int(1000 + (i + 64) % kSize); });
}
