// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Four waves wait for one flag and read what it passes on: a cell keeps two of them, and no write follows.
// RUN: %twin %s
// RUN: %twin --optimize=-O0 %s
#include "twin.h"

#define WORKGROUP __HIP_MEMORY_SCOPE_WORKGROUP

#ifdef FIXED
#define RELEASE __ATOMIC_RELEASE
#else
#define RELEASE __ATOMIC_RELAXED
#endif
constexpr int kThreads = 320;

__global__ void spread(const int *in, int *out) {
  __shared__ int value, flag;
  int t = threadIdx.x;
  if (t == 0)
    flag = 0;
  __syncthreads();
  if (t == 0) {
    value = in[0]; // RACE-A
    __hip_atomic_store(&flag, 1, RELEASE, WORKGROUP);
  } else if (t % 64 == 0) {
    while (!__hip_atomic_load(&flag, __ATOMIC_ACQUIRE, WORKGROUP))
      ;
    out[t / 64 - 1] = value; // RACE-B
  }
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(1)), *out = twin::onDevice(std::vector<int>(4));
  spread<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, 4), [](size_t) { return 1000; });
}
