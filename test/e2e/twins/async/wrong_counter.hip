// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The copy counts with vector memory, the wait is for LDS. Private slices need no barrier, so the clean build has none.
// RUN: %twin --kind=missing-wait --seeds=3 %s
#include "async.h"

constexpr int kSize = 128;

__global__ void own_slice(const int *in, int *out) {
  __shared__ int tile[kSize];
  const int t = threadIdx.x;
  copyAsync(in + t, tile + waveStart()); // RACE-A
#ifdef FIXED
  WAIT_VMCNT(0);
#else
  WAIT_LGKMCNT0();
#endif
  int v;
  asm volatile("ds_read_b32 %0, %1\n s_waitcnt lgkmcnt(0)" // RACE-B
               : "=&v"(v) : "v"(ldsOffset(tile + waveStart() + warpSize - 1 - t % warpSize)) : "memory");
  out[t] = v;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  own_slice<<<1, kSize>>>(in, out);
  std::vector<int> result = twin::fromDevice(out, kSize);
  int wave = 0;
  twin::must(hipDeviceGetAttribute(&wave, hipDeviceAttributeWarpSize, 0), "wave size");
  return twin::compare(result, [&](size_t i) { return int(1000 + i / wave * wave + wave - 1 - i % wave); });
}
