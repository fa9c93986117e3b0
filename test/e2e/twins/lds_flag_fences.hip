// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fences make a flag of relaxed atomics one that orders.
// RUN: %twin %s
// RUN: %twin --optimize=-O0 %s
#include "twin.h"

#define WORKGROUP __HIP_MEMORY_SCOPE_WORKGROUP

constexpr int kThreads = 128;

#ifdef FIXED
#define RELEASE_FENCE() __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup")
#define ACQUIRE_FENCE() __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
#else
#define RELEASE_FENCE() ((void)0)
#define ACQUIRE_FENCE() ((void)0)
#endif

__global__ void pass(const int *in, int *out) {
  __shared__ int value, flag;
  int t = threadIdx.x;
  if (t == 0)
    flag = 0;
  __syncthreads();
  if (t == 0) {
    value = in[0]; // RACE-A
    RELEASE_FENCE();
    __hip_atomic_store(&flag, 1, __ATOMIC_RELAXED, WORKGROUP);
  } else if (t == 64) {
    while (!__hip_atomic_load(&flag, __ATOMIC_RELAXED, WORKGROUP))
      ;
    ACQUIRE_FENCE();
    out[0] = value; // RACE-B
  }
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(1)), *out = twin::onDevice(std::vector<int>(1));
  pass<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, 1), [](size_t) { return 1000; });
}
