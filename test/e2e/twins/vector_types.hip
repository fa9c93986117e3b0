// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Three-component vectors (12 bytes): one component is read by another wave.
// RUN: %twin %s
#include "twin.h"

constexpr int kThreads = 128;

__global__ void third(const float *in, float *out) {
  __shared__ float3 tile[kThreads];
  int t = threadIdx.x;
  tile[t] = make_float3(in[t], in[t] + 0.25f, in[t] + 0.5f); // RACE-A
  BARRIER_IF_FIXED();
  out[t] = tile[kThreads - 1 - t].z; // RACE-B
}

int main() {
  float *in = twin::onDevice(twin::counting<float>(kThreads)), *out = twin::onDevice(std::vector<float>(kThreads));
  third<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t i) { return float(1000 + kThreads - 1 - i) + 0.5f; });
}
