// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two barriers, one in each arm of a branch; the arms part inside a wave.
// RUN: %twin --kind=barrier-divergence --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 2, kSize = 256, kSplit = 80;

__global__ void arms(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x, i = blockIdx.x * kSize + t;
  if (t < kSplit) {
    tile[t] = in[i] + 1;
#ifndef FIXED
    __syncthreads(); // RACE-A
#endif
  } else {
    tile[t] = in[i] - 1;
#ifndef FIXED
    __syncthreads(); // RACE-B
#endif
  }
#ifdef FIXED
  __syncthreads();
#endif
  out[i] = tile[t];
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  arms<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) { return int(1000 + i) + (i % kSize < kSplit ? 1 : -1); });
}
