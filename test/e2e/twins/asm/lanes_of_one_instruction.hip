// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two lanes of one instruction in inline assembly write different values to one element.
// RUN: %twin --kind=lane-conflict --seeds=2 %s
#include "async.h"

constexpr int kSize = 32;

__global__ void pairs(const int *in, int *out) {
  __shared__ int tile[kSize];
  const int t = threadIdx.x;
  asm volatile("ds_write_b32 %0, %1\n s_waitcnt lgkmcnt(0)" // RACE-A RACE-B
               ::"v"(ldsOffset(&tile[twin::kFixed ? t : t / 2])), "v"(in[t]) : "memory");
  __syncthreads();
  out[t] = tile[twin::kFixed ? t : t / 2];
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  pairs<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) { return int(1000 + i); });
}
