// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function with a barrier, called from two places that different work-items reach.
// RUN: %twin --kind=barrier-divergence --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 2, kSize = 128;

__device__ int exchange(int *tile, int t, int value) {
  tile[t] = value;
  __syncthreads(); // RACE-A RACE-B
  return tile[t];
}

__global__ void arms(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x, i = blockIdx.x * kSize + t;
#ifdef FIXED
  out[i] = exchange(tile, t, t % 2 ? in[i] : -in[i]);
#else
  if (t % 2)
    out[i] = exchange(tile, t, in[i]);
  else
    out[i] = exchange(tile, t, -in[i]);
#endif
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  arms<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) { return i % 2 ? int(1000 + i) : -int(1000 + i); });
}
