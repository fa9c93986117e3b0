// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grids and workgroups of every shape: three dimensions, sizes that are no multiple of a wave, one work-item, 1,024 work-items, many workgroups. Each
// work-item runs once, with its own ids.
// RUN: %cc %s -o %t
// RUN: %run90a -- %t 2>&1 | FileCheck %s
// RUN: %run1030 -- %t 2>&1 | FileCheck %s
// CHECK-DAG: result: ok
// CHECK-DAG: 0 races
#include "twin.h"

__global__ void count(unsigned *seen) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
  const unsigned w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y;
  const unsigned flat = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  atomicAdd(&seen[x + w * (y + h * z)], 1 + (flat << 8));
}

int main() {
  size_t wrong = 0;
  const dim3 shapes[][2] = {{dim3(1), dim3(1)},          {dim3(3), dim3(1)},        {dim3(2), dim3(63)},       {dim3(2), dim3(65)},
                            {dim3(1), dim3(1024)},       {dim3(2, 3), dim3(7, 5)},  {dim3(2, 1, 3), dim3(3, 5, 7)},
                            {dim3(1, 1, 5), dim3(1, 1, 64)}, {dim3(1), dim3(8, 8, 16)}, {dim3(5, 4, 3), dim3(33, 2, 1)}, {dim3(5000), dim3(3)}};
  for (const auto &[grid, group] : shapes) {
    const unsigned items = grid.x * grid.y * grid.z * group.x * group.y * group.z;
    unsigned *seen = twin::onDevice(std::vector<unsigned>(items));
    count<<<grid, group>>>(seen);
    const std::vector<unsigned> values = twin::fromDevice(seen, items);
    for (unsigned i = 0; i < items; ++i) {
      const unsigned w = grid.x * group.x, h = grid.y * group.y, x = i % w, y = i / w % h, z = i / (w * h);
      const unsigned flat = x % group.x + group.x * (y % group.y + group.y * (z % group.z));
      wrong += values[i] != 1 + (flat << 8);
    }
    twin::must(hipFree(seen), "hipFree");
  }
  // What cannot be launched is an error, and the next launch is none the worse.
  unsigned *seen = twin::onDevice(std::vector<unsigned>(64));
  for (const auto &[grid, group] : {std::pair(dim3(1), dim3(1025)), std::pair(dim3(1), dim3(32, 33)), std::pair(dim3(0), dim3(64)), std::pair(dim3(1), dim3(0))}) {
    count<<<grid, group>>>(seen);
    wrong += hipGetLastError() == hipSuccess;
  }
  count<<<1, 64>>>(seen);
  const std::vector<unsigned> values = twin::fromDevice(seen, 64);
  for (unsigned i = 0; i < 64; ++i)
    wrong += values[i] != 1 + (i << 8);
  return twin::verdict(wrong);
}
