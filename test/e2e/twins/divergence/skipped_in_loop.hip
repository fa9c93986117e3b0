// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In every round some waves skip the first of two barriers.
// RUN: %twin --kind=barrier-divergence --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 2, kSize = 128;

__global__ void skip(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x, i = blockIdx.x * kSize + t, sum = 0;
  for (int k = 0; k < 4; ++k) {
    tile[t] = in[i] + k;
    if (twin::kFixed || t < 64)
      __syncthreads(); // RACE-A
    sum += tile[t];
    __syncthreads(); // RACE-B
  }
  out[i] = sum;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  skip<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) { return int(1000 + i) * 4 + 6; });
}
