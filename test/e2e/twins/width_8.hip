// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Eight bytes: doubles, read by another wave.
// RUN: %twin %s
#include "twin.h"

constexpr int kSize = 128;

__global__ void average(const double *in, double *out) {
  __shared__ double tile[kSize];
  int t = threadIdx.x;
  double mine = in[t];
  tile[t] = mine; // RACE-A
  BARRIER_IF_FIXED();
  out[t] = 0.5 * (mine + tile[t ^ 64]); // RACE-B
}

int main() {
  double *in = twin::onDevice(twin::counting<double>(kSize)), *out = twin::onDevice(std::vector<double>(kSize));
  average<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) { return 0.5 * double(2000 + i + (i ^ 64)); });
}
