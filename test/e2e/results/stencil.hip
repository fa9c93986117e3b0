// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Five-point stencil over a grid that no tile divides: tile with a halo in LDS, several steps, two global buffers.
// RUN: %clean %s
#include "twin.h"

constexpr int kTile = 16, kWidth = 53, kHeight = 37, kSteps = 4;

__global__ void relax(const float *in, float *out, int width, int height) {
  __shared__ float tile[kTile + 2][kTile + 2];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  int cx = min(x, width - 1), cy = min(y, height - 1), tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  tile[ty][tx] = in[cy * width + cx];
  if (threadIdx.x == 0)
    tile[ty][0] = in[cy * width + max(cx - 1, 0)];
  if (threadIdx.x == kTile - 1)
    tile[ty][kTile + 1] = in[cy * width + min(x + 1, width - 1)];
  if (threadIdx.y == 0)
    tile[0][tx] = in[max(cy - 1, 0) * width + cx];
  if (threadIdx.y == kTile - 1)
    tile[kTile + 1][tx] = in[min(y + 1, height - 1) * width + cx];
  __syncthreads();
  if (x < width && y < height)
    out[y * width + x] = tile[ty][tx] * 0.5f + (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]) * 0.125f;
}

int main() {
  std::vector<float> grid = twin::counting<float>(kWidth * kHeight), next(grid);
  float *a = twin::onDevice(grid), *b = twin::onDevice(grid);
  const dim3 groups((kWidth + kTile - 1) / kTile, (kHeight + kTile - 1) / kTile), threads(kTile, kTile);
  for (int step = 0; step < kSteps; ++step) {
    relax<<<groups, threads>>>(a, b, kWidth, kHeight);
    std::swap(a, b);
    const auto at = [&](int x, int y) {
      return grid[std::max(0, std::min(y, kHeight - 1)) * kWidth + std::max(0, std::min(x, kWidth - 1))];
    };
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        next[y * kWidth + x] = at(x, y) * 0.5f + (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1)) * 0.125f;
    std::swap(grid, next);
  }
  return twin::compare(twin::fromDevice(a, grid.size()), [&](size_t i) { return grid[i]; });
}
