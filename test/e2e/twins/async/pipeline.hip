// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pipeline: the copies of the next round go on while this round computes. The count names the copies that may remain.
// RUN: %twin --kind=missing-wait --seeds=3 %s
#include "async.h"

constexpr int kSize = 128, kRounds = 5;
#ifdef FIXED
#define REMAINING 1
#else
#define REMAINING 2
#endif

__global__ void pipelined(const int *in, int *out) {
  __shared__ int tile[3][kSize];
  const int t = threadIdx.x;
  int sum = 0;
  copyAsync(in + t, tile[0] + waveStart());
  WAIT_VMCNT(0);
  for (int k = 0; k < kRounds; ++k) {
    copyAsync(in + (k + 1) * kSize + t, tile[(k + 1) % 3] + waveStart()); // RACE-A
    WAIT_VMCNT(REMAINING);
    BARE_BARRIER();
    sum += tile[k % 3][kSize - 1 - t] * (k + 1); // RACE-B
    WAIT_LGKMCNT0();
  }
  out[t] = sum;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize * (kRounds + 1))), *out = twin::onDevice(std::vector<int>(kSize));
  pipelined<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) {
    int sum = 0;
    for (int k = 0; k < kRounds; ++k)
      sum += int(1000 + k * kSize + kSize - 1 - i) * (k + 1);
    return sum;
  });
}
