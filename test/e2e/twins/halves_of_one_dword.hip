// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Neighbouring halves of a dword, written by one wave and read by another: clean unless they overlap.
// RUN: %twin %s
#include "twin.h"

constexpr int kThreads = 128, kPairs = 64;

__global__ void halves(const unsigned short *in, unsigned *out) {
  __shared__ unsigned short half[2 * kPairs];
  int t = threadIdx.x, pair = t % kPairs;
  if (t >= kPairs)
    half[2 * pair + 1] = in[t];
  __syncthreads();
  if (t < kPairs)
    half[2 * pair] = in[t]; // RACE-A
  else
    out[t] = half[2 * pair + (twin::kFixed ? 1 : 0)]; // RACE-B
  __syncthreads();
  if (t < kPairs)
    out[t] = half[2 * pair];
}

int main() {
  auto *in = twin::onDevice(twin::counting<unsigned short>(kThreads));
  unsigned *out = twin::onDevice(std::vector<unsigned>(kThreads));
  halves<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t i) { return unsigned(1000 + i); });
}
