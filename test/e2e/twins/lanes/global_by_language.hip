// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same in global memory, read and then written: what a lane reads, another one overwrites.
// RUN: %twin --kind=race --one-wave --hooks=native --options=wave_order=language %s
// RUN: %twin --racy-on=none --hooks=native %s
#include "twin.h"

constexpr int kThreads = 32;

__global__ void shift(int *data, int *out) {
  int t = threadIdx.x;
  int mine = data[(t + 1) % kThreads]; // RACE-A
  BARRIER_IF_FIXED();
  data[t] = mine + 1; // RACE-B
  out[t] = mine;
}

int main() {
  int *data = twin::onDevice(twin::counting<int>(kThreads)), *out = twin::onDevice(std::vector<int>(kThreads));
  shift<<<1, kThreads>>>(data, out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t i) { return int(1000 + (i + 1) % kThreads); });
}
