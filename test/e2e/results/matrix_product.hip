// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiled matrix product: two tiles in LDS, two barriers per step.
// RUN: %clean %s
#include "twin.h"

constexpr int kTile = 16, kSize = 64;

__global__ void multiply(const float *a, const float *b, float *c) {
  __shared__ float tileA[kTile][kTile], tileB[kTile][kTile];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * kTile + tx, y = blockIdx.y * kTile + ty;
  float sum = 0;
  for (int step = 0; step < kSize / kTile; ++step) {
    tileA[ty][tx] = a[y * kSize + step * kTile + tx];
    tileB[ty][tx] = b[(step * kTile + ty) * kSize + x];
    __syncthreads();
    for (int k = 0; k < kTile; ++k)
      sum += tileA[ty][k] * tileB[k][tx];
    __syncthreads();
  }
  c[y * kSize + x] = sum;
}

int main() {
  constexpr int n = kSize * kSize;
  // Small whole numbers: every product and sum is exact.
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i) {
    a[i] = float(i % 7 - 3);
    b[i] = float(i % 5 - 2);
  }
  float *da = twin::onDevice(a), *db = twin::onDevice(b), *dc = twin::onDevice(std::vector<float>(n));
  multiply<<<dim3(kSize / kTile, kSize / kTile), dim3(kTile, kTile)>>>(da, db, dc);
  return twin::compare(twin::fromDevice(dc, n), [&](size_t i) {
    float sum = 0;
    for (size_t k = 0; k < kSize; ++k)
      sum += a[i / kSize * kSize + k] * b[k * kSize + i % kSize];
    return sum;
  });
}
