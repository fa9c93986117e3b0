// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tile reused by the next pass of a loop while another wave still reads it (write after read).
// RUN: %twin --fix "at the end of the loop body: after line {A} and before line {B} of the next iteration$" %s
#include "twin.h"

constexpr int kSize = 128, kPasses = 5;

__global__ void sumMirrored(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x, sum = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    tile[t] = in[pass * kSize + t]; // RACE-B
    __syncthreads();
    sum += tile[kSize - 1 - t]; // RACE-A
    BARRIER_IF_FIXED();
  }
  out[t] = sum;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize * kPasses)), *out = twin::onDevice(std::vector<int>(kSize));
  sumMirrored<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) {
    int sum = 0;
    for (int pass = 0; pass < kPasses; ++pass)
      sum += 1000 + pass * kSize + kSize - 1 - int(i);
    return sum;
  });
}
