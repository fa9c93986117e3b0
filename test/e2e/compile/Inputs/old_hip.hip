// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses what the repairs are for: warpSize, __syncthreads, hrcp, and a math function that asks for denormal handling.
#include "twin.h"

#include <hip/hip_fp16.h>

constexpr int kThreads = 128;

struct Row {
  int waveSize;
  float reciprocal, root;
};

__global__ void repairs(const float *in, Row *out) {
  __shared__ float tile[kThreads];
  int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  float value = tile[kThreads - 1 - t];
  out[t] = {warpSize, __half2float(hrcp(__float2half(value))), sqrtf(value)};
}

int main() {
  std::vector<float> values;
  for (int i = 0; i < kThreads; ++i)
    values.push_back(float(1 << (i % 8)));
  float *in = twin::onDevice(values);
  Row *out = twin::onDevice(std::vector<Row>(kThreads));
  repairs<<<1, kThreads>>>(in, out);
  std::vector<Row> rows = twin::fromDevice(out, kThreads);
  std::printf("wave size %d\n", rows[0].waveSize);
  size_t wrong = 0;
  for (int i = 0; i < kThreads; ++i) {
    float value = values[kThreads - 1 - i], error = rows[i].root * rows[i].root / value - 1;
    wrong += rows[i].reciprocal != 1 / value || error > 1e-6f || error < -1e-6f;
  }
  std::puts(wrong == 0 ? "result: ok" : "result: wrong");
  return wrong != 0;
}
