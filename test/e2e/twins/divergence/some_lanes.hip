// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A barrier that only the first lanes of the only wave enter.
// RUN: %twin --kind=early-exit --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 2, kSize = 32;

__global__ void some(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x, i = blockIdx.x * kSize + t;
  tile[t] = in[i];
#ifdef FIXED
  __syncthreads();
#else
  if (t < 16)        // RACE-A
    __syncthreads(); // RACE-B
#endif
  out[i] = tile[t];
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  some<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) { return int(1000 + i); });
}
