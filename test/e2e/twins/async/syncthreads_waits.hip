// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// __syncthreads() waits for copies that the compiler knows of, and so does a wave's own access.
// RUN: %clean --hooks=native --seeds=3 %s
#include "async.h"

constexpr int kSize = 128;

__global__ void relay(const int *in, int *out) {
  __shared__ int tile[kSize];
  const int t = threadIdx.x;
  copyAsync(in + t, tile + waveStart());
  const int own = tile[waveStart() + warpSize - 1 - t % warpSize];
  __syncthreads();
  out[t] = own + tile[kSize - 1 - t];
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  relay<<<1, kSize>>>(in, out);
  std::vector<int> result = twin::fromDevice(out, kSize);
  int wave = 0;
  twin::must(hipDeviceGetAttribute(&wave, hipDeviceAttributeWarpSize, 0), "wave size");
  return twin::compare(result, [&](size_t i) { return int(1000 + i / wave * wave + wave - 1 - i % wave + 1000 + kSize - 1 - i); });
}
