// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One barrier per pass is enough for two buffers, and too little for one.
// RUN: %twin %s
#include "twin.h"

constexpr int kSize = 128, kPasses = 6, kBuffers = twin::kFixed ? 2 : 1;

__global__ void sumShifted(const int *in, int *out) {
  __shared__ int buffer[kBuffers][kSize];
  int t = threadIdx.x, sum = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    buffer[pass % kBuffers][t] = in[pass * kSize + t]; // RACE-B
    __syncthreads();
    sum += buffer[pass % kBuffers][(t + 64) % kSize]; // RACE-A
  }
  out[t] = sum;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize * kPasses)), *out = twin::onDevice(std::vector<int>(kSize));
  sumShifted<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) {
    int sum = 0;
    for (int pass = 0; pass < kPasses; ++pass)
      sum += 1000 + pass * kSize + int((i + 64) % kSize);
    return sum;
  });
}
