// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// memcpy of a length known only at run time, into LDS.
// RUN: %twin %s
#include "twin.h"

constexpr int kThreads = 128, kBytes = 20;

__global__ void rows(const unsigned char *in, unsigned char *out, int bytes) {
  __shared__ unsigned char tile[kThreads * kBytes];
  int t = threadIdx.x;
  __builtin_memcpy(&tile[t * kBytes], &in[t * kBytes], bytes); // RACE-A
  BARRIER_IF_FIXED();
  int partner = kThreads - 1 - t;
  unsigned char sum = 0;
  for (int i = 0; i < kBytes; ++i)
    sum += tile[partner * kBytes + i]; // RACE-B
  out[t] = sum;
}

int main() {
  auto *in = twin::onDevice(twin::counting<unsigned char>(kThreads * kBytes));
  auto *out = twin::onDevice(std::vector<unsigned char>(kThreads));
  rows<<<1, kThreads>>>(in, out, kBytes);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t i) {
    unsigned char sum = 0;
    for (int k = 0; k < kBytes; ++k)
      sum += (unsigned char)(1000 + (kThreads - 1 - i) * kBytes + k);
    return sum;
  });
}
