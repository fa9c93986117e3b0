// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of two streams that write even and odd bytes; one of them has an odd one too many.
// RUN: %streams %s
#include "streams.h"

__global__ void alternate(char *data, int odd, int extra) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + odd;
  data[i == 100 ? (extra < 2048 ? extra : i) : i] = odd;
}

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  char *data = nullptr;
  twin::must(hipMalloc(&data, 2048), "hipMalloc");
  alternate<<<4, 256, 0, first>>>(data, 0, twin::kFixed ? 2048 : 77); // RACE-A
  alternate<<<4, 256, 0, second>>>(data, 1, 2048);                   // RACE-B
  return twin::compare(twin::fromDevice(data, 2048), [](size_t i) { return char(i % 2); });
}
