// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes of one wave make different numbers of rounds; whoever leaves the loop waits at the barrier behind it.
// RUN: %twin --kind=barrier-divergence --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 2, kSize = 128;

__global__ void rounds(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x, i = blockIdx.x * kSize + t, mine = 1 + t % 3, sum = 0;
  tile[t] = in[i];
#ifdef FIXED
  for (int k = 0; k < 3; ++k) {
    sum += k < mine ? tile[t] : 0;
    __syncthreads();
  }
  __syncthreads();
#else
  for (int k = 0; k < mine; ++k) {
    sum += tile[t];
    __syncthreads(); // RACE-A
  }
  __syncthreads(); // RACE-B
#endif
  out[i] = sum + tile[t];
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  rounds<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) { return int(1000 + i) * int(2 + i % kSize % 3); });
}
