// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A barrier brings the waves together, not their copies. Straight code, static LDS.
// RUN: %twin --kind=missing-wait --seeds=3 %s
#include "async.h"

constexpr int kSize = 128;

__global__ void relay(const int *in, int *out) {
  __shared__ int tile[kSize];
  const int t = threadIdx.x;
  copyAsync(in + t, tile + waveStart()); // RACE-A
#ifdef FIXED
  WAIT_VMCNT(0);
#endif
  BARE_BARRIER();
  out[t] = tile[kSize - 1 - t]; // RACE-B
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  relay<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) { return int(1000 + kSize - 1 - i); });
}
