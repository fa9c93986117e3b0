// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A wave waits for a flag in LDS that another one sets.
// RUN: %twin %s
// RUN: %twin --optimize=-O0 %s
#include "twin.h"

#define WORKGROUP __HIP_MEMORY_SCOPE_WORKGROUP

constexpr int kThreads = 128;
#ifdef FIXED
#define ACQUIRE __ATOMIC_ACQUIRE
#else
#define ACQUIRE __ATOMIC_RELAXED
#endif

__global__ void pass(const int *in, int *out) {
  __shared__ int value, flag;
  int t = threadIdx.x;
  if (t == 0)
    flag = 0;
  __syncthreads();
  if (t == 0) {
    value = in[0]; // RACE-A
    __hip_atomic_store(&flag, 1, __ATOMIC_RELEASE, WORKGROUP);
  } else if (t == 64) {
    while (!__hip_atomic_load(&flag, ACQUIRE, WORKGROUP))
      ;
    out[0] = value; // RACE-B
  }
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(1)), *out = twin::onDevice(std::vector<int>(1));
  pass<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, 1), [](size_t) { return 1000; });
}
