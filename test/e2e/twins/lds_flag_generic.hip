// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A flag through a pointer of which only its value says that it is LDS.
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

__global__ void pass(const int *in, int *out, int *scratch, int lds) {
  __shared__ int value, flag;
  int t = threadIdx.x;
  if (t == 0)
    flag = 0;
  __syncthreads();
  int *where = lds ? &flag : scratch;
  if (t == 0) {
    value = in[0]; // RACE-A
    __hip_atomic_fetch_add(where, 1, RELEASE, WORKGROUP);
  } else if (t == 64) {
    while (!__hip_atomic_load(where, ACQUIRE, WORKGROUP))
      ;
    out[0] = value; // RACE-B
  }
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(1)), *out = twin::onDevice(std::vector<int>(1)),
      *scratch = twin::onDevice(std::vector<int>(1));
  pass<<<1, kThreads>>>(in, out, scratch, 1);
  return twin::compare(twin::fromDevice(out, 1), [](size_t) { return 1000; });
}
