// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A flag of 64 bits, an epoch number and a count, and so much LDS that its shadow lies in global memory.
// RUN: %twin %s
// RUN: %twin --optimize=-O0 %s
#include "twin.h"

#define WORKGROUP __HIP_MEMORY_SCOPE_WORKGROUP

#ifdef FIXED
#define ACQUIRE __ATOMIC_ACQUIRE
#else
#define ACQUIRE __ATOMIC_RELAXED
#endif
constexpr int kThreads = 256, kSize = 6000;

__global__ void fill(const int *in, int *out) {
  __shared__ int big[kSize];
  __shared__ unsigned long long flag;
  int t = threadIdx.x;
  if (t == 0)
    flag = 0;
  __syncthreads();
  if (t < 32) { // one wave of either size
    for (int i = t; i < kSize; i += 32)
      big[i] = in[0]; // RACE-A
    if (t == 0)
      __hip_atomic_fetch_add(&flag, (1ull << 32) + 1, __ATOMIC_RELEASE, WORKGROUP);
  } else if (t == 192) {
    while (__hip_atomic_load(&flag, ACQUIRE, WORKGROUP) >> 32 == 0)
      ;
    out[0] = big[kSize - 1]; // RACE-B
  }
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(1)), *out = twin::onDevice(std::vector<int>(1));
  fill<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, 1), [](size_t) { return 1000; });
}
