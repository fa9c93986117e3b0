// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counting without atomics is a race of one line with itself; with atomics it is none.
// RUN: %twin %s
#include "twin.h"

constexpr int kThreads = 128, kBins = 8;

__global__ void count(unsigned *out) {
  __shared__ unsigned bins[kBins];
  int t = threadIdx.x;
  if (t < kBins)
    bins[t] = 0;
  __syncthreads();
#ifdef FIXED
  atomicAdd(&bins[t % kBins], 1u);
#else
  bins[t % kBins] += 1; // RACE-A RACE-B
#endif
  __syncthreads();
  if (t < kBins)
    out[t] = bins[t];
}

int main() {
  unsigned *out = twin::onDevice(std::vector<unsigned>(kBins));
  count<<<1, kThreads>>>(out);
  return twin::compare(twin::fromDevice(out, kBins), [](size_t) { return unsigned(kThreads / kBins); });
}
