// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cooperative launches are replayed where all workgroups of the instrumented twin can be resident at once. The second kernel leaves room for two
// workgroups on a compute unit, and WaveSan's own LDS leaves it for one; the third one is the same with a workgroup for each compute unit.
// RUN: %cc %s -o %t
// RUN: %build_tool %examples/replay_tools/digests.c -o %t.so
// RUN: %run90a -o tool=%t.so -- %t > %t.out90 2> %t.err90
// RUN: FileCheck --input-file=%t.out90 %s && FileCheck --check-prefix=CHECKED --input-file=%t.err90 %s
// RUN: %run1030 -o tool=%t.so -- %t > %t.out10 2> %t.err10
// HIP takes two of these compute units for one, so there is room for all of them.
// RUN: FileCheck --check-prefix=ALL --input-file=%t.out10 %s && FileCheck --check-prefix=CHECKED --input-file=%t.err10 %s
// CHECK: digests: dispatch 1, {{.*}}phases{{.*}} pass 0 of 3: [[A:[0-9a-f]+]]{{$}}
// CHECK: digests: dispatch 1, {{.*}}phases{{.*}} pass 2 of 3: [[A]]{{$}}
// CHECK-NEXT: digests: dispatch 2, {{.*}}large{{.*}} runs once (cooperative_launch)
// CHECK: digests: dispatch 3, {{.*}}large{{.*}} pass 2 of 3
// CHECK: result: ok
// ALL: digests: dispatch 1, {{.*}}phases{{.*}} pass 2 of 3
// ALL: digests: dispatch 2, {{.*}}large{{.*}} pass 2 of 3
// ALL: digests: dispatch 3, {{.*}}large{{.*}} pass 2 of 3
// ALL: result: ok
// CHECKED: wavesan: checked {{[1-9][0-9]*}} accesses in 2 kernels: 0 races
#include "twin.h"

#include <algorithm>
#include <hip/hip_cooperative_groups.h>
#include <utility>

constexpr int kSize = 64, kPhases = 3, kLarge = 32 * 1024 / sizeof(int);

__global__ void phases(int *grid, int *out) {
  const int i = blockIdx.x * kSize + threadIdx.x, n = kSize * gridDim.x;
  for (int k = 0; k < kPhases; ++k) {
    grid[i] += 1;
    cooperative_groups::this_grid().sync();
    out[i] += grid[(i + kSize) % n];
    cooperative_groups::this_grid().sync();
  }
}

__global__ void large(int *grid, int *out) {
  __shared__ int tile[kLarge];
  const int i = blockIdx.x * kSize + threadIdx.x, n = kSize * gridDim.x;
  tile[kLarge - 1 - threadIdx.x] = out[i]; // the same in all of the workgroup
  __syncthreads();
  grid[i] += 1;
  cooperative_groups::this_grid().sync();
  out[i] = tile[kLarge - kSize + threadIdx.x] + grid[(i + kSize) % n];
}

static void launch(void (*kernel)(int *, int *), int groups, int *grid, int *out) {
  void *arguments[] = {&grid, &out};
  twin::must(hipLaunchCooperativeKernel(reinterpret_cast<void *>(kernel), dim3(unsigned(groups)), dim3(kSize), arguments, 0, nullptr),
             "hipLaunchCooperativeKernel");
}

int main() {
  hipDeviceProp_t properties;
  twin::must(hipGetDeviceProperties(&properties, 0), "hipGetDeviceProperties");
  const int units = properties.multiProcessorCount, n = std::max(2 * units, 6) * kSize;
  int *grid = twin::onDevice(std::vector<int>(size_t(n))), *out = twin::onDevice(std::vector<int>(size_t(n)));
  launch(phases, 6, grid, out);
  launch(large, 2 * units, grid, out);
  launch(large, units, grid, out);
  std::vector<int> expectedGrid(size_t(n), 0), expectedOut = expectedGrid;
  for (const auto &[groups, rounds] : {std::pair(6, kPhases), std::pair(2 * units, 1), std::pair(units, 1)})
    for (int k = 0; k < rounds; ++k) {
      const int items = groups * kSize;
      for (int i = 0; i < items; ++i)
        ++expectedGrid[size_t(i)];
      for (int i = 0; i < items; ++i)
        expectedOut[size_t(i)] += expectedGrid[size_t((i + kSize) % items)];
    }
  const std::vector<int> x = twin::fromDevice(out, size_t(n)), y = twin::fromDevice(grid, size_t(n));
  for (size_t i = 0; i < size_t(n); ++i)
    if (y[i] != expectedGrid[i] || x[i] != expectedOut[i])
      return std::printf("element %zu: %d, %d instead of %d, %d\n", i, y[i], x[i], expectedGrid[i], expectedOut[i]), 1;
  std::puts("result: ok");
}
