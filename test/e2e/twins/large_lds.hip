// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LDS so large that the device runtime's cells do not fit beside it: they come from the slot pool in global memory, which
// several workgroups share.
// RUN: %twin %s
#include "twin.h"

constexpr int kThreads = 128, kWords = 60 * 1024 / 4, kGroups = 24;

__global__ void spread(const int *in, int *out) {
  __shared__ int tile[kWords];
  int t = threadIdx.x, far = kWords - kThreads;
  tile[far + t] = in[t]; // RACE-A
  BARRIER_IF_FIXED();
  out[blockIdx.x * kThreads + t] = tile[far + (t + 64) % kThreads] + blockIdx.x; // RACE-B
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kThreads)), *out = twin::onDevice(std::vector<int>(kThreads * kGroups));
  spread<<<kGroups, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kThreads * kGroups),
                       [](size_t i) { return int(1000 + (i + 64) % kThreads + i / kThreads); });
}
