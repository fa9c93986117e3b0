// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plain reset by one wave against atomics of the others.
// RUN: %twin %s
#include "twin.h"

constexpr int kThreads = 256;

__global__ void largest(const int *in, int *out) {
  __shared__ int best;
  int t = threadIdx.x;
  if (t == kThreads - 1)
    best = 0; // RACE-A
  BARRIER_IF_FIXED();
  atomicMax(&best, in[t]); // RACE-B
  __syncthreads();
  out[t] = best;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kThreads)), *out = twin::onDevice(std::vector<int>(kThreads));
  largest<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t) { return 1000 + kThreads - 1; });
}
