// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dynamic LDS behind a static array, several workgroups: the launch decides how much there is.
// RUN: %twin %s
#include "twin.h"

constexpr int kThreads = 192, kGroups = 3;
extern __shared__ float pool[];

__global__ void rotate(const float *in, float *out) {
  __shared__ float bias[64];
  int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  if (t < 64)
    bias[t] = 0.5f;
  __syncthreads();
  pool[t] = in[i]; // RACE-A
  BARRIER_IF_FIXED();
  out[i] = pool[(t + 64) % kThreads] + bias[t % 64]; // RACE-B
}

int main() {
  constexpr int n = kThreads * kGroups;
  float *in = twin::onDevice(twin::counting<float>(n)), *out = twin::onDevice(std::vector<float>(n));
  rotate<<<kGroups, kThreads, kThreads * sizeof(float)>>>(in, out);
  return twin::compare(twin::fromDevice(out, n), [](size_t i) {
    size_t group = i / kThreads, t = i % kThreads;
    return float(1000 + group * kThreads + (t + 64) % kThreads) + 0.5f;
  });
}
