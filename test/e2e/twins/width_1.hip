// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single bytes.
// RUN: %twin %s
#include "twin.h"

constexpr int kSize = 256;

__global__ void mirror(const unsigned char *in, unsigned char *out) {
  __shared__ unsigned char tile[kSize];
  int t = threadIdx.x;
  tile[t] = in[t]; // RACE-A
  BARRIER_IF_FIXED();
  out[t] = tile[kSize - 1 - t]; // RACE-B
}

int main() {
  auto *in = twin::onDevice(twin::counting<unsigned char>(kSize));
  auto *out = twin::onDevice(std::vector<unsigned char>(kSize));
  mirror<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) { return (unsigned char)(1000 + kSize - 1 - i); });
}
