// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One lane clears the whole table with memset while other waves already count in it.
// RUN: %twin %s
#include "twin.h"

constexpr int kThreads = 128, kBins = 32;

__global__ void count(const int *in, unsigned *out) {
  __shared__ unsigned bins[kBins];
  int t = threadIdx.x;
  if (t == 0)
    __builtin_memset(bins, 0, sizeof(bins)); // RACE-A
  BARRIER_IF_FIXED();
  atomicAdd(&bins[in[t] % kBins], 2u); // RACE-B
  __syncthreads();
  if (t < kBins)
    out[t] = bins[t];
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kThreads));
  unsigned *out = twin::onDevice(std::vector<unsigned>(kBins));
  count<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kBins), [](size_t) { return unsigned(2 * kThreads / kBins); });
}
