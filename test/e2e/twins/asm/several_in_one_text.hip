// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses, arithmetic and a wait in one text, in a loop; the barriers are the language's.
// RUN: %twin --hooks=native,device --seeds=3 %s
#include "async.h"

constexpr int kSize = 128, kRounds = 3;

__global__ void rotate(const int *in, int *out) {
  __shared__ int tile[kSize][2];
  const int t = threadIdx.x;
  int value = in[t];
  for (int k = 0; k < kRounds; ++k) {
    asm volatile("v_lshlrev_b32 v9, 1, %1\n ds_write_b32 %0, v9\n ds_write_b32 %0, %1 offset:4\n s_waitcnt lgkmcnt(0)" // RACE-A
                 ::"v"(ldsOffset(&tile[t][0])), "v"(value) : "memory", "v9");
    BARRIER_IF_FIXED();
    int2 pair;
    asm volatile("ds_read2_b32 %0, %1 offset1:1\n s_waitcnt lgkmcnt(0)" // RACE-B
                 : "=&v"(pair) : "v"(ldsOffset(&tile[(t + 1) % kSize][0])) : "memory");
    value = pair.x - pair.y + 1;
    BARRIER_IF_FIXED();
  }
  out[t] = value;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  rotate<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) { return int(1000 + (i + kRounds) % kSize + kRounds); });
}
