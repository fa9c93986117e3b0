// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sixteen bytes written at once, single words of them read by other waves.
// RUN: %twin %s
#include "twin.h"

constexpr int kThreads = 128;

__global__ void spread(const float4 *in, float *out) {
  __shared__ float4 tile[kThreads];
  int t = threadIdx.x;
  tile[t] = in[t]; // RACE-A
  BARRIER_IF_FIXED();
  const float *words = reinterpret_cast<const float *>(tile);
  out[t] = words[(4 * t + 258) % (4 * kThreads)]; // RACE-B
}

int main() {
  std::vector<float4> rows;
  for (int i = 0; i < kThreads; ++i)
    rows.push_back(make_float4(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3));
  float4 *in = twin::onDevice(rows);
  float *out = twin::onDevice(std::vector<float>(kThreads));
  spread<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t i) { return float((4 * i + 258) % (4 * kThreads)); });
}
