// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No barrier between 64 work-items: one wave on wave64, two waves on wave32.
// RUN: %twin --racy-on=gfx1030 %s
#include "twin.h"

constexpr int kThreads = 64;

__global__ void fold(const int *in, int *out) {
  __shared__ int tile[kThreads];
  int t = threadIdx.x;
  tile[t] = in[t]; // RACE-A
  BARRIER_IF_FIXED();
  out[t] = in[t] + tile[t ^ 32]; // RACE-B
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kThreads)), *out = twin::onDevice(std::vector<int>(kThreads));
  fold<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t i) { return int(2000 + i + (i ^ 32)); });
}
