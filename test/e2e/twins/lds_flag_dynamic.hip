// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flag and data in dynamic LDS, a pair for each of several workgroups' four waves.
// RUN: %twin %s
// RUN: %twin --optimize=-O0 %s
#include "twin.h"

#define WORKGROUP __HIP_MEMORY_SCOPE_WORKGROUP

#ifdef FIXED
#define ACQUIRE __ATOMIC_ACQUIRE
#else
#define ACQUIRE __ATOMIC_RELAXED
#endif
constexpr int kWaves = 4, kThreads = 64 * kWaves, kGroups = 3;
extern __shared__ int pool[];

__global__ void rotate(const int *in, int *out) {
  int t = threadIdx.x, self = t / 64, next = (self + 1) % kWaves;
  int *value = pool, *flag = pool + kWaves;
  if (t < kWaves)
    flag[t] = 0;
  __syncthreads();
  if (t % 64 != 0)
    return;
  value[self] = in[blockIdx.x * kWaves + self]; // RACE-A
  __hip_atomic_store(&flag[self], 1, __ATOMIC_RELEASE, WORKGROUP);
  while (!__hip_atomic_load(&flag[next], ACQUIRE, WORKGROUP))
    ;
  out[blockIdx.x * kWaves + self] = value[next]; // RACE-B
}

int main() {
  constexpr int n = kWaves * kGroups;
  int *in = twin::onDevice(twin::counting<int>(n)), *out = twin::onDevice(std::vector<int>(n));
  rotate<<<kGroups, kThreads, 2 * kWaves * sizeof(int)>>>(in, out);
  return twin::compare(twin::fromDevice(out, n), [](size_t i) { return int(1000 + i / 4 * 4 + (i + 1) % 4); });
}
