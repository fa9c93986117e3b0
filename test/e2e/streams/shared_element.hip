// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of two streams that share one element; halves that do not overlap are clean.
// RUN: %streams --targets=gfx90a,gfx1030 %s
#include "streams.h"

__global__ void part(int *data, int begin, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    data[begin + i] = begin + i;
}

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  int *data = twin::buffer();
  twin::must(hipMemset(data, 0, twin::kBytes), "hipMemset");
  constexpr int kHalf = twin::kCount / 2, kOverlap = twin::kFixed ? 0 : 1;
  part<<<kHalf / twin::kGroup, twin::kGroup, 0, first>>>(data, 0, kHalf);            // RACE-A
  part<<<kHalf / twin::kGroup, twin::kGroup, 0, second>>>(data, kHalf - kOverlap, kHalf); // RACE-B
  return twin::compare(twin::fromDevice(data, twin::kCount), [](size_t i) { return int(i); });
}
