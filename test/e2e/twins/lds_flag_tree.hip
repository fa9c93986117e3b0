// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum in a tree of atomic counters: who arrives second at a node goes on with what both have.
// RUN: %twin %s
// RUN: %twin --optimize=-O0 %s
#include "twin.h"

#define WORKGROUP __HIP_MEMORY_SCOPE_WORKGROUP

#ifdef FIXED
#define BOTH __ATOMIC_ACQ_REL
#else
#define BOTH __ATOMIC_RELAXED
#endif
constexpr int kWaves = 8, kThreads = 64 * kWaves;

__global__ void sum(const int *in, int *out) {
  __shared__ int part[2 * kWaves], arrived[kWaves];
  int t = threadIdx.x, self = t / 64;
  if (t < kWaves)
    arrived[t] = 0;
  __syncthreads();
  if (t % 64 != 0)
    return;
  int node = kWaves + self, value = in[self];
  for (;;) {
    part[node] = value; // RACE-A
    node /= 2;
    if (node == 0) {
      out[0] = value;
      return;
    }
    if (__hip_atomic_fetch_add(&arrived[node], 1, BOTH, WORKGROUP) == 0)
      return;
    value = part[2 * node] + part[2 * node + 1]; // RACE-B
  }
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kWaves)), *out = twin::onDevice(std::vector<int>(1));
  sum<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, 1), [](size_t) { return 8 * 1000 + 28; });
}
