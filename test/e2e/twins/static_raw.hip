// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static LDS, straight line, 4 bytes: a read of what another wave has written.
// RUN: %twin %s
#include "twin.h"

constexpr int kSize = 128;

__global__ void mirror(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x;
  tile[t] = in[t]; // RACE-A
  BARRIER_IF_FIXED();
  out[t] = tile[kSize - 1 - t]; // RACE-B
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  mirror<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) { return int(1000 + kSize - 1 - i); });
}
