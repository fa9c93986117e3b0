// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A wave produces, another one consumes, through one buffer that is full or empty. The racy producer does not wait properly
// for the buffer to be empty.
// RUN: %twin %s
// RUN: %twin --optimize=-O0 %s
#include "twin.h"

#define WORKGROUP __HIP_MEMORY_SCOPE_WORKGROUP

#ifdef FIXED
#define ACQUIRE __ATOMIC_ACQUIRE
#else
#define ACQUIRE __ATOMIC_RELAXED
#endif
constexpr int kThreads = 128, kRounds = 5;

__global__ void pump(const int *in, int *out) {
  __shared__ int buffer, full;
  int t = threadIdx.x;
  if (t == 0)
    full = 0;
  __syncthreads();
  if (t == 0) {
    for (int i = 0; i < kRounds; ++i) {
      while (__hip_atomic_load(&full, ACQUIRE, WORKGROUP) != 0)
        ;
      buffer = in[i]; // RACE-A
      __hip_atomic_store(&full, 1, __ATOMIC_RELEASE, WORKGROUP);
    }
  } else if (t == 64) {
    for (int i = 0; i < kRounds; ++i) {
      while (__hip_atomic_load(&full, __ATOMIC_ACQUIRE, WORKGROUP) != 1)
        ;
      out[i] = buffer; // RACE-B
      __hip_atomic_store(&full, 0, __ATOMIC_RELEASE, WORKGROUP);
    }
  }
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kRounds)), *out = twin::onDevice(std::vector<int>(kRounds));
  pump<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kRounds), [](size_t i) { return int(1000 + i); });
}
