// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waves that make different numbers of rounds in a loop with a barrier, and come to another barrier behind it.
#include "twin.h"

constexpr int kSize = 256;

__global__ void rounds(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x, sum = 0;
  tile[t] = in[t];
  const int mine = in[0] - 999 + t / 64;
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < mine; ++k) {
    sum += tile[t];
    __syncthreads();
  }
  __syncthreads();
  out[t] = sum + tile[t];
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  rounds<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t) { return 0; });
}
