// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two barriers in two arms, and every wave is in one arm as a whole: the hardware does not notice.
// RUN: %twin --kind=barrier-divergence --seeds=2 %s
#include "twin.h"

#ifdef FIXED
#define BARRIER_IN_ARM ((void)0)
#else
#define BARRIER_IN_ARM __syncthreads()
#endif

constexpr int kGroups = 2, kSize = 256;

__global__ void arms(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x, i = blockIdx.x * kSize + t;
  if (t < 128) {
    tile[t] = in[i] + 1;
    BARRIER_IN_ARM; // RACE-A
  } else {
    tile[t] = in[i] - 1;
    BARRIER_IN_ARM; // RACE-B
  }
  BARRIER_IF_FIXED();
  out[i] = tile[t];
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  arms<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) { return int(1000 + i) + (i % kSize < 128 ? 1 : -1); });
}
