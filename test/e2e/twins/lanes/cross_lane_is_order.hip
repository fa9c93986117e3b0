// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cross-lane operations, barriers and fences order the lanes of a wave in the language too; so does a lane's own order.
// RUN: %clean --options=wave_order=language --hooks=native --seeds=2 %s
#include "twin.h"

constexpr int kThreads = 64;

__global__ void reduce(const int *in, int *out) {
  __shared__ int tile[kThreads];
  int t = threadIdx.x, sum = in[t];
  for (int d = 16; d > 0; d /= 2)
    sum += __shfl_xor(sum, d);
  tile[t] = sum;
  tile[t] += 1;
  __syncthreads();
  int other = tile[t ^ 3];
  __threadfence_block();
  tile[t] = other;
  __syncthreads();
  out[t] = tile[t ^ 1];
}

int main() {
  int *in = twin::onDevice(std::vector<int>(kThreads, 1)), *out = twin::onDevice(std::vector<int>(kThreads));
  reduce<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t) { return 33; });
}
