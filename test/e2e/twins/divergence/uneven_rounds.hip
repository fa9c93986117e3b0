// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waves make different numbers of rounds in a loop with a barrier, then end.
// RUN: %twin --kind=early-exit --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 2, kSize = 256;

__global__ void rounds(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x, i = blockIdx.x * kSize + t, mine = 2 + t / 64, sum = 0;
#ifdef FIXED
  for (int k = 0; k < 2 + kSize / 64; ++k) {
    if (k < mine) {
      tile[t] = in[i] + k;
      sum += tile[t];
    }
    __syncthreads();
  }
#else
  for (int k = 0; k < mine; ++k) { // RACE-A
    tile[t] = in[i] + k;
    sum += tile[t];
    __syncthreads(); // RACE-B
  }
#endif
  out[i] = sum;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  rounds<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) { int n = int(2 + i % kSize / 64); return int(1000 + i) * n + n * (n - 1) / 2; });
}
