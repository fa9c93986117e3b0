// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A three-dimensional workgroup in a two-dimensional grid: slices exchange along z.
// RUN: %twin %s
#include "twin.h"

constexpr int kX = 8, kY = 4, kZ = 4, kVolume = kX * kY * kZ;

__global__ void opposite(const int *in, int *out) {
  __shared__ int box[kZ][kY][kX];
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  int first = (blockIdx.y * gridDim.x + blockIdx.x) * kVolume;
  box[z][y][x] = in[first + (z * kY + y) * kX + x]; // RACE-A
  BARRIER_IF_FIXED();
  out[first + (z * kY + y) * kX + x] = box[(z + 2) % kZ][y][x]; // RACE-B
}

int main() {
  constexpr int n = 6 * kVolume;
  int *in = twin::onDevice(twin::counting<int>(n)), *out = twin::onDevice(std::vector<int>(n));
  opposite<<<dim3(2, 3), dim3(kX, kY, kZ)>>>(in, out);
  return twin::compare(twin::fromDevice(out, n), [](size_t i) {
    size_t group = i / kVolume, cell = i % kVolume;
    return int(1000 + group * kVolume + (cell + kVolume / 2) % kVolume);
  });
}
