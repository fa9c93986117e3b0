// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two arms of a switch have a barrier each.
// RUN: %twin --kind=barrier-divergence --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 2, kSize = 256;

__global__ void arms(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x, i = blockIdx.x * kSize + t;
  switch (twin::kFixed ? blockIdx.x % 2 : t / 64 % 2) {
  case 0:
    tile[t] = in[i] * 3;
    __syncthreads(); // RACE-A
    break;
  default:
    tile[t] = in[i] * 5;
    __syncthreads(); // RACE-B
    break;
  }
  out[i] = tile[t];
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  arms<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) { return int(1000 + i) * (i / kSize % 2 ? 5 : 3); });
}
