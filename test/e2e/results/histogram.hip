// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Histogram: bins per workgroup in LDS by atomics, added to global bins at the end.
// RUN: %clean %s
#include "twin.h"

constexpr int kThreads = 256, kGroups = 8, kBins = 64, kSize = 20000;

__global__ void histogram(const unsigned char *in, unsigned *out, int n) {
  __shared__ unsigned bins[kBins];
  int t = threadIdx.x;
  for (int bin = t; bin < kBins; bin += kThreads)
    bins[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * kThreads + t; i < n; i += gridDim.x * kThreads)
    atomicAdd(&bins[in[i] % kBins], 1u);
  __syncthreads();
  for (int bin = t; bin < kBins; bin += kThreads)
    atomicAdd(&out[bin], bins[bin]);
}

int main() {
  std::vector<unsigned char> samples;
  std::vector<unsigned> expected(kBins);
  unsigned state = 12345;
  for (int i = 0; i < kSize; ++i) {
    state = state * 1664525u + 1013904223u;
    samples.push_back((unsigned char)(state >> 24));
    ++expected[samples.back() % kBins];
  }
  auto *in = twin::onDevice(samples);
  unsigned *out = twin::onDevice(std::vector<unsigned>(kBins));
  histogram<<<kGroups, kThreads>>>(in, out, kSize);
  return twin::compare(twin::fromDevice(out, kBins), [&](size_t i) { return expected[i]; });
}
