// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every lane reaches the one barrier of the source once, but one lane after the other.
// RUN: %twin --kind=barrier-divergence --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 1, kSize = 128;

__global__ void turns(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x, i = blockIdx.x * kSize + t;
  for (int k = 0; k < 64; ++k)
    if (k == t % 64) {
      tile[t] = in[i] + k;
#ifndef FIXED
      __syncthreads(); // RACE-A RACE-B
#endif
    }
  BARRIER_IF_FIXED();
  out[i] = tile[t];
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  turns<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) { return int(1000 + i + i % 64); });
}
