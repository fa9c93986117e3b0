// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device printf, and tables in __constant__ and __device__ memory that the host fills and reads back.
// RUN: %clean --hooks=native %s
// RUN: %cc -DFIXED %s -o %t
// RUN: %run90a -- %t | FileCheck %s
// RUN: %run1030 -- %t | FileCheck %s
#include "twin.h"

constexpr int kThreads = 64, kCoefficients = 5;

__constant__ float coefficients[kCoefficients];
__device__ int rounds = 3;

__global__ void polynomial(const float *in, float *out) {
  int t = threadIdx.x;
  float x = in[t], y = 0;
  for (int i = kCoefficients; i-- > 0;)
    y = y * x + coefficients[i];
  out[t] = y;
  if (t == 7) {
    printf("item %d of %s: x=%.2f y=%.2f rounds=%d\n", t, "seven", x, y, rounds);
    rounds = 4;
  }
}
// CHECK: item 7 of seven: x=1.75 y=44.70 rounds=3
// CHECK: result: ok

int main() {
  const float table[kCoefficients] = {1, 2, 0, 4, 2};
  twin::must(hipMemcpyToSymbol(HIP_SYMBOL(coefficients), table, sizeof(table)), "hipMemcpyToSymbol");
  std::vector<float> xs;
  for (int i = 0; i < kThreads; ++i)
    xs.push_back(i * 0.25f);
  float *in = twin::onDevice(xs), *out = twin::onDevice(std::vector<float>(kThreads));
  polynomial<<<1, kThreads>>>(in, out);
  const std::vector<float> ys = twin::fromDevice(out, kThreads);
  int after = 0;
  twin::must(hipMemcpyFromSymbol(&after, HIP_SYMBOL(rounds), sizeof(after)), "hipMemcpyFromSymbol");
  size_t wrong = after != 4;
  for (int i = 0; i < kThreads; ++i) {
    float y = 0;
    for (int c = kCoefficients; c-- > 0;)
      y = y * xs[i] + table[c];
    wrong += ys[i] != y;
  }
  return twin::verdict(wrong);
}
