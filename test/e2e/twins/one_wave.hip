// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A workgroup that is one wave needs no barrier; four times the size, it does.
// RUN: %twin %s
#include "twin.h"

constexpr int kThreads = twin::kFixed ? 32 : 128;

__global__ void mirror(const int *in, int *out) {
  __shared__ int tile[kThreads];
  int t = threadIdx.x;
  tile[t] = in[t];                 // RACE-A
  out[t] = tile[kThreads - 1 - t]; // RACE-B
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kThreads)), *out = twin::onDevice(std::vector<int>(kThreads));
  mirror<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t i) { return int(1000 + kThreads - 1 - i); });
}
