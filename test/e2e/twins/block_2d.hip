// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A two-dimensional workgroup: the tile is read transposed.
// RUN: %twin %s
#include "twin.h"

constexpr int kSide = 16;

__global__ void transpose(const int *in, int *out) {
  __shared__ int tile[kSide][kSide + 1];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[y * kSide + x]; // RACE-A
  BARRIER_IF_FIXED();
  out[y * kSide + x] = tile[x][y]; // RACE-B
}

int main() {
  constexpr int n = kSide * kSide;
  int *in = twin::onDevice(twin::counting<int>(n)), *out = twin::onDevice(std::vector<int>(n));
  transpose<<<1, dim3(kSide, kSide)>>>(in, out);
  return twin::compare(twin::fromDevice(out, n), [](size_t i) { return int(1000 + i % kSide * kSide + i / kSide); });
}
