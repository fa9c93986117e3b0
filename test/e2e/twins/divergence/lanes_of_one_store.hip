// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two lanes of one store write different values to one element.
// RUN: %twin --kind=lane-conflict --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 2, kSize = 32;

__global__ void pairs(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x, i = blockIdx.x * kSize + t;
  tile[twin::kFixed ? t : t / 2] = in[i]; // RACE-A RACE-B
  __syncthreads();
  out[i] = tile[twin::kFixed ? t : t / 2];
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  pairs<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) { return int(1000 + i); });
}
