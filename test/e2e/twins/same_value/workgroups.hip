// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workgroups that set the same elements of global memory to one constant, by stores of two widths whose bytes are all alike.
// RUN: %twin --note --hooks=native,device %s
#include "twin.h"

constexpr int kThreads = 64, kGroups = 4;

__global__ void clear(const int *in, int *out) {
  int t = threadIdx.x;
#ifdef FIXED
  if (blockIdx.x == 0)
    out[t] = 0;
#else
  if (blockIdx.x == 1)
    out[t] = 0; // RACE-A
  else if (blockIdx.x == 2)
    reinterpret_cast<short *>(out)[t] = 0; // RACE-B
#endif
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kThreads)), *out = twin::onDevice(twin::counting<int>(kThreads));
  clear<<<kGroups, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t) { return 0; });
}
