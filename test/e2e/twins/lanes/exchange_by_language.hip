// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes of one wave exchange through LDS without synchronisation: in order on the hardware, a race by the language.
// RUN: %twin --kind=race --one-wave --hooks=native --options=wave_order=language --seeds=2 %s
// RUN: %twin --racy-on=none %s
#include "twin.h"

constexpr int kThreads = 32;

__global__ void neighbours(const int *in, int *out) {
  __shared__ int tile[kThreads];
  int t = threadIdx.x;
  tile[t] = in[t]; // RACE-A
#ifdef FIXED
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#endif
  out[t] = tile[(t + 5) % kThreads]; // RACE-B
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kThreads)), *out = twin::onDevice(std::vector<int>(kThreads));
  neighbours<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t i) { return int(1000 + (i + 5) % kThreads); });
}
