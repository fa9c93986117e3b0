// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Global memory through a scalar base and an offset of each lane: workgroups write the same elements.
// RUN: %twin --hooks=native %s
#include "async.h"

constexpr int kSize = 64;

__global__ void fill(int *out) {
#ifdef FIXED
  const int t = blockIdx.x * kSize + threadIdx.x;
#else
  const int t = threadIdx.x;
#endif
  asm volatile("global_store_dword %0, %1, %2" ::"v"(t * 4), "v"(t + 1000), "s"(out) : "memory"); // RACE-A
#ifndef FIXED
  out[t] = t + 1000; // RACE-B
#endif
}

int main() {
  int *out = twin::onDevice(std::vector<int>(2 * kSize));
#ifdef FIXED
  constexpr size_t kWritten = 2 * kSize;
#else
  constexpr size_t kWritten = kSize;
#endif
  fill<<<2, kSize>>>(out);
  return twin::compare(twin::fromDevice(out, kWritten), [](size_t i) { return int(1000 + i); });
}
