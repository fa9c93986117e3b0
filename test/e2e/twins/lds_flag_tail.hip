// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tail of a list goes from wave to wave, each appends one entry, the last reads them all.
// RUN: %twin %s
// RUN: %twin --optimize=-O0 %s
#include "twin.h"

#define WORKGROUP __HIP_MEMORY_SCOPE_WORKGROUP
#ifdef FIXED
#define RELEASE __ATOMIC_RELEASE
#define ACQUIRE __ATOMIC_ACQUIRE
#else
#define RELEASE __ATOMIC_RELAXED
#define ACQUIRE __ATOMIC_RELAXED
#endif

constexpr int kWaves = 4, kThreads = 64 * kWaves;

__global__ void append(const int *in, int *out) {
  __shared__ int list[kWaves], tail;
  int t = threadIdx.x, self = t / 64;
  if (t == 0)
    tail = 0;
  __syncthreads();
  if (t % 64 != 0)
    return;
  while (__hip_atomic_load(&tail, ACQUIRE, WORKGROUP) != self)
    ;
  list[self] = in[self]; // RACE-A
  if (self == kWaves - 1) {
    int sum = 0;
    for (int i = 0; i < kWaves; ++i)
      sum += list[i]; // RACE-B
    out[0] = sum;
  }
  __hip_atomic_store(&tail, self + 1, RELEASE, WORKGROUP);
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kWaves)), *out = twin::onDevice(std::vector<int>(1));
  append<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, 1), [](size_t) { return 4 * 1000 + 6; });
}
