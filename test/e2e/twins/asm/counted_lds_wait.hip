// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A wait for all but the last LDS instruction: the others are complete, the last one is not.
// RUN: %twin --kind=missing-wait --hooks=native --seeds=3 %s
#include "async.h"

constexpr int kSize = 128;

__global__ void swap_halves(const int *in, int *out) {
  __shared__ int tile[kSize], last[kSize];
  const int t = threadIdx.x;
  asm volatile("ds_write_b32 %0, %1" ::"v"(ldsOffset(tile + t)), "v"(in[t]) : "memory");
  asm volatile("ds_write_b32 %0, %1" ::"v"(ldsOffset(last + t)), "v"(in[t]) : "memory"); // RACE-A
#ifdef FIXED
  asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
#else
  asm volatile("s_waitcnt lgkmcnt(1)" ::: "memory");
#endif
  BARE_BARRIER();
  out[t] = tile[(t + kSize / 2) % kSize];
  out[t + kSize] = last[(t + kSize / 2) % kSize]; // RACE-B
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(2 * kSize));
  swap_halves<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, 2 * kSize), [](size_t i) { return int(1000 + (i % kSize + kSize / 2) % kSize); });
}
