// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A relaxed store of a second wave ends the release sequence of the first one; an exchange would not.
// RUN: %twin %s
// RUN: %twin --optimize=-O0 %s
#include "twin.h"

#define WORKGROUP __HIP_MEMORY_SCOPE_WORKGROUP

#ifdef FIXED
#define PUT(value) __hip_atomic_exchange(&flag, value, __ATOMIC_RELAXED, WORKGROUP)
#else
#define PUT(value) __hip_atomic_store(&flag, value, __ATOMIC_RELAXED, WORKGROUP)
#endif
constexpr int kThreads = 192;

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
    while (__hip_atomic_load(&flag, __ATOMIC_RELAXED, WORKGROUP) != 1)
      ;
    PUT(2);
  } else if (t == 128) {
    while (__hip_atomic_load(&flag, __ATOMIC_RELAXED, WORKGROUP) != 2)
      ;
    if (__hip_atomic_load(&flag, __ATOMIC_ACQUIRE, WORKGROUP) == 2)
      out[0] = value; // RACE-B
  }
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(1)), *out = twin::onDevice(std::vector<int>(1));
  pass<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, 1), [](size_t) { return 1000; });
}
