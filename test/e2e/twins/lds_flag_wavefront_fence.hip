// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fences whose scope is one wave order nothing between waves. Only the agent's own detector says what would do.
// RUN: %twin --hooks=native --kind=scope-too-small --fix=__HIP_MEMORY_SCOPE_WORKGROUP %s
// RUN: %twin --hooks=device %s
// RUN: %twin --hooks=device --optimize=-O0 %s
#include "twin.h"

#define WORKGROUP __HIP_MEMORY_SCOPE_WORKGROUP

constexpr int kThreads = 128;

#ifdef FIXED
#define SCOPE "workgroup"
#else
#define SCOPE "wavefront"
#endif
#define RELEASE_FENCE() __builtin_amdgcn_fence(__ATOMIC_RELEASE, SCOPE)
#define ACQUIRE_FENCE() __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, SCOPE)

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
