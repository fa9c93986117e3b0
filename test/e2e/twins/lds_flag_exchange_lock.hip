// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Four waves add up under a lock in LDS that is taken by a compare-exchange. The racy one takes it without acquiring.
// RUN: %twin %s
// RUN: %twin --optimize=-O0 %s
#include "twin.h"

#define WORKGROUP __HIP_MEMORY_SCOPE_WORKGROUP

constexpr int kThreads = 256;
#ifdef FIXED
#define ACQUIRE __ATOMIC_ACQUIRE
#else
#define ACQUIRE __ATOMIC_RELAXED
#endif

__global__ void sum(const int *in, int *out) {
  __shared__ int total, lock;
  int t = threadIdx.x;
  if (t == 0)
    total = lock = 0;
  __syncthreads();
  if (t % 64 == 0) {
    for (int is = 0; !__hip_atomic_compare_exchange_strong(&lock, &is, 1, ACQUIRE, __ATOMIC_RELAXED, WORKGROUP); is = 0)
      ;
    total += in[0] / 4; // RACE-A RACE-B
    __hip_atomic_store(&lock, 0, __ATOMIC_RELEASE, WORKGROUP);
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
