// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of two streams that add to the same counters atomically; one of them adds plainly.
// RUN: %streams %s
#include "streams.h"

__global__ void count(int *data, bool atomically) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (atomically)
    atomicAdd(&data[i % 64], 1);
  else if (i < 64)
    data[i] += 64;
}

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  int *data = twin::buffer();
  twin::must(hipMemset(data, 0, twin::kBytes), "hipMemset");
  count<<<16, 256, 0, first>>>(data, true);           // RACE-A
  count<<<16, 256, 0, second>>>(data, twin::kFixed); // RACE-B
  return twin::compare(twin::fromDevice(data, 64), [](size_t) { return 2 * 16 * 256 / 64; });
}
