// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cooperative groups: barriers of the grid, groups of a workgroup and tiles of it, reductions within tiles; a grid that is too large is refused.
// RUN: %cc %s -o %t
// RUN: %run90a -- %t 2>&1 | FileCheck %s
// RUN: %run1030 -- %t 2>&1 | FileCheck %s
// CHECK-DAG: result: ok
// CHECK-DAG: 0 races
#include "twin.h"

#include <hip/hip_cooperative_groups.h>

namespace groups = cooperative_groups;

__global__ void rotate(int *a, int *b, int count, int rounds) {
  groups::grid_group grid = groups::this_grid();
  const int i = int(grid.thread_rank());
  for (int round = 0; round < rounds; ++round) {
    int *from = round % 2 ? b : a, *to = round % 2 ? a : b;
    to[i] = from[(i + 100) % count] + 1;
    grid.sync();
  }
}

template <unsigned Size> __global__ void sums(int *out) {
  groups::thread_block block = groups::this_thread_block();
  groups::thread_block_tile<Size> tile = groups::tiled_partition<Size>(block);
  __shared__ int shared[256];
  shared[block.thread_rank()] = int(block.thread_rank());
  block.sync();
  int sum = shared[255 - block.thread_rank()];
  for (unsigned offset = Size / 2; offset; offset /= 2)
    sum += tile.shfl_down(sum, offset);
  tile.sync();
  if (tile.thread_rank() == 0)
    out[block.thread_rank() / Size] = sum;
}

template <unsigned Size> size_t wrongSums(int *out) {
  sums<Size><<<1, 256>>>(out);
  const std::vector<int> values = twin::fromDevice(out, 256 / Size);
  size_t wrong = 0;
  for (int t = 0; t < int(256 / Size); ++t) {
    int expected = 0;
    for (int i = 0; i < int(Size); ++i)
      expected += 255 - (t * int(Size) + i);
    wrong += values[t] != expected;
  }
  return wrong;
}

int main() {
  int count = 6 * 96, rounds = 5;
  std::vector<int> expected = twin::counting<int>(count);
  int *a = twin::onDevice(expected), *b = twin::onDevice(std::vector<int>(count));
  void *arguments[] = {&a, &b, &count, &rounds};
  twin::must(hipLaunchCooperativeKernel(reinterpret_cast<void *>(rotate), dim3(6), dim3(96), arguments, 0, nullptr), "hipLaunchCooperativeKernel");
  for (int round = 0; round < rounds; ++round) {
    std::vector<int> next(count);
    for (int i = 0; i < count; ++i)
      next[i] = expected[(i + 100) % count] + 1;
    expected = next;
  }
  size_t wrong = twin::fromDevice(b, count) != expected;
  wrong += hipLaunchCooperativeKernel(reinterpret_cast<void *>(rotate), dim3(1 << 20), dim3(1024), arguments, 0, nullptr) != hipErrorCooperativeLaunchTooLarge;
  (void)hipGetLastError();
  wrong += wrongSums<2>(a) + wrongSums<8>(a) + wrongSums<16>(a) + wrongSums<32>(a);
  return twin::verdict(wrong);
}
