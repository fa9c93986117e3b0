// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phases of a cooperative kernel: every workgroup reads what its neighbour wrote in the phase before.
// RUN: %twin --hooks=native,device --seeds=3 %s
#include "twin.h"

#include <hip/hip_cooperative_groups.h>

constexpr int kSize = 128, kGroups = 6, kPhases = 4;

__device__ void phaseEnd() {
#ifdef FIXED
  cooperative_groups::this_grid().sync();
#else
  __syncthreads();
#endif
}

__global__ void phases(int *grid, int *out) {
  const int i = blockIdx.x * kSize + threadIdx.x, n = kSize * kGroups;
  int value = i;
  for (int k = 0; k < kPhases; ++k) {
    grid[i] = value; // RACE-A
    phaseEnd();
    value = grid[(i + kSize) % n] + 1; // RACE-B
    phaseEnd();
  }
  out[i] = value;
}

int main() {
  constexpr int n = kSize * kGroups;
  int *grid = twin::onDevice(std::vector<int>(n)), *out = twin::onDevice(std::vector<int>(n));
  void *arguments[] = {&grid, &out};
  twin::must(hipLaunchCooperativeKernel(reinterpret_cast<void *>(&phases), dim3(kGroups), dim3(kSize), arguments, 0, nullptr),
             "hipLaunchCooperativeKernel");
  return twin::compare(twin::fromDevice(out, n), [](size_t i) { return int((i + kPhases * kSize) % n) + kPhases; });
}
