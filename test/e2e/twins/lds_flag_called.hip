// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The flag is set and awaited in functions that stay calls.
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

constexpr int kThreads = 128;

__device__ __attribute__((noinline)) void put(int *where, int *flag, int value) {
  *where = value; // RACE-A
  __hip_atomic_store(flag, 1, RELEASE, WORKGROUP);
}

__device__ __attribute__((noinline)) int get(const int *where, int *flag) {
  while (!__hip_atomic_load(flag, ACQUIRE, WORKGROUP))
    ;
  return *where; // RACE-B
}

__global__ void pass(const int *in, int *out) {
  __shared__ int value, flag;
  int t = threadIdx.x;
  if (t == 0)
    flag = 0;
  __syncthreads();
  if (t == 0)
    put(&value, &flag, in[0]);
  else if (t == 64)
    out[0] = get(&value, &flag);
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(1)), *out = twin::onDevice(std::vector<int>(1));
  pass<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, 1), [](size_t) { return 1000; });
}
