// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same in global memory.
// RUN: %twin --kind=lane-conflict --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 2, kSize = 32;

__global__ void sums(const int *in, int *out) {
  int t = threadIdx.x, i = blockIdx.x * kSize + t;
  out[i] = in[i];
#ifdef FIXED
  if (t == 0)
    out[blockIdx.x * kSize] = in[blockIdx.x * kSize + kSize - 1];
#else
  out[blockIdx.x * kSize] = in[i]; // RACE-A RACE-B
#endif
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  sums<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) { return i % kSize ? int(1000 + i) : int(1000 + i + kSize - 1); });
}
