// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stores of two elements whose halves overlap those of the next lane.
// RUN: %twin --kind=lane-conflict --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 2, kSize = 32;

typedef long long Pair __attribute__((aligned(4)));

__global__ void pairs(const int *in, int *out) {
  __shared__ int tile[2 * kSize];
  int t = threadIdx.x, i = blockIdx.x * kSize + t;
  *(Pair *)&tile[twin::kFixed ? 2 * t : t] = in[i] * 0x100000001ll; // RACE-A RACE-B
  __syncthreads();
  out[i] = tile[twin::kFixed ? 2 * t : t];
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  pairs<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) { return int(1000 + i); });
}
