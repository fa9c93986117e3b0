// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// __syncthreads_count() is a barrier, too.
// RUN: %twin --kind=early-exit --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 2, kSize = 128;

__global__ void count(const int *in, int *out) {
  int t = threadIdx.x, i = blockIdx.x * kSize + t;
  __shared__ int tile[kSize];
  tile[t] = in[i];
#ifdef FIXED
  int n = __syncthreads_count(tile[t] % 2);
  out[i] = t < 64 ? n : 0;
#else
  out[i] = 0;
  if (t < 64)                                   // RACE-A
    out[i] = __syncthreads_count(tile[t] % 2); // RACE-B
#endif
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  count<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) { return i % kSize < 64 ? kSize / 2 : 0; });
}
