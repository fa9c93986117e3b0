// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Four waves add up under a ticket lock in LDS. The racy one gives it back without a release.
// RUN: %twin %s
// RUN: %twin --optimize=-O0 %s
#include "twin.h"

#define WORKGROUP __HIP_MEMORY_SCOPE_WORKGROUP

constexpr int kThreads = 256;
#ifdef FIXED
#define RELEASE __ATOMIC_RELEASE
#else
#define RELEASE __ATOMIC_RELAXED
#endif

__global__ void sum(const int *in, int *out) {
  __shared__ int total, next, serving;
  int t = threadIdx.x;
  if (t == 0)
    total = next = serving = 0;
  __syncthreads();
  if (t % 64 == 0) {
    const int ticket = __hip_atomic_fetch_add(&next, 1, __ATOMIC_RELAXED, WORKGROUP);
    while (__hip_atomic_load(&serving, __ATOMIC_ACQUIRE, WORKGROUP) != ticket)
      ;
    total += in[0] / 4; // RACE-A RACE-B
    __hip_atomic_store(&serving, ticket + 1, RELEASE, WORKGROUP);
  }
  __syncthreads();
  if (t == 0)
    out[0] = total;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(1)), *out = twin::onDevice(std::vector<int>(1));
  sum<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, 1), [](size_t) { return 1000; });
}
