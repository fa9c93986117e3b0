// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A workgroup of one wave, whose barriers the compiler drops, and one work-item alone.
// RUN: %clean --seeds=2 %s
#include "twin.h"

constexpr int kSize = 32;

__global__ void __launch_bounds__(kSize) reverse(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x;
  for (int k = 0; k < 3; ++k) {
    tile[t] = in[t] + k;
    __syncthreads();
    out[t] = tile[blockDim.x - 1 - t];
    __syncthreads();
  }
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  reverse<<<1, 1>>>(in, out);
  reverse<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) { return int(1002 + kSize - 1 - i); });
}
