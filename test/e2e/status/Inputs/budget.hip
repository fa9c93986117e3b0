// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "twin.h"

__global__ void fill(int *out) { out[blockIdx.x * 256 + threadIdx.x] = int(threadIdx.x); }
__global__ void little(int *out) { out[threadIdx.x] = int(threadIdx.x); }

int main() {
  const int blocks = 8192;
  int *out = twin::onDevice(std::vector<int>(blocks * 256));
  little<<<1, 256>>>(out);
  fill<<<blocks, 256>>>(out);
  return twin::compare(twin::fromDevice(out, blocks * 256), [](size_t i) { return int(i % 256); });
}
