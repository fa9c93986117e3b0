// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transposes a matrix whose sides are no multiples of the tile, with a padded tile in LDS.
// RUN: %clean %s
#include "twin.h"

constexpr int kTile = 32, kRows = 8, kWidth = 100, kHeight = 75;

__global__ void transpose(const float *in, float *out) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int row = 0; row < kTile; row += kRows)
    if (x < kWidth && y + row < kHeight)
      tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * kWidth + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int row = 0; row < kTile; row += kRows)
    if (x < kHeight && y + row < kWidth)
      out[(y + row) * kHeight + x] = tile[threadIdx.x][threadIdx.y + row];
}

int main() {
  constexpr int n = kWidth * kHeight;
  float *in = twin::onDevice(twin::counting<float>(n)), *out = twin::onDevice(std::vector<float>(n));
  dim3 grid((kWidth + kTile - 1) / kTile, (kHeight + kTile - 1) / kTile);
  transpose<<<grid, dim3(kTile, kRows)>>>(in, out);
  return twin::compare(twin::fromDevice(out, n),
                       [](size_t i) { return float(1000 + i % kHeight * kWidth + i / kHeight); });
}
