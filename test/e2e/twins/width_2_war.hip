// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two bytes, write after read without a loop.
// RUN: %twin %s
#include "twin.h"

constexpr int kSize = 128;

__global__ void shift(const short *in, short *out) {
  __shared__ short tile[kSize];
  int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  short first = tile[(t + 64) % kSize]; // RACE-A
  BARRIER_IF_FIXED();
  tile[t] = short(first + 1); // RACE-B
  __syncthreads();
  out[t] = tile[kSize - 1 - t];
}

int main() {
  short *in = twin::onDevice(twin::counting<short>(kSize)), *out = twin::onDevice(std::vector<short>(kSize));
  shift<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) {
    size_t source = (kSize - 1 - i + 64) % kSize;
    return short(1000 + source + 1);
  });
}
