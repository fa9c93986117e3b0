// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Only every second lane writes; the others' elements may be read without a barrier.
// RUN: %twin %s
#include "twin.h"

constexpr int kSize = 128;

__global__ void evenLanes(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  if (t % 2 == 0)
    tile[t] = -in[t]; // RACE-A
  int partner = (t + 64) % kSize;
  partner = twin::kFixed ? partner | 1 : partner;
  out[t] = tile[partner]; // RACE-B
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  evenLanes<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) { return int(1000 + ((i + 64) % kSize | 1)); });
}
