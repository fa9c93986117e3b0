// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Straight-line code with a barrier between the two lines, in a branch that no work-item of this launch takes.
// RUN: %twin --fix "let every work-item execute a barrier between line {A} and line {B}: the one that is there" %s
#include "twin.h"

constexpr int kSize = 128;

__global__ void mirror(const int *in, int *out, int synchronise) {
  __shared__ int tile[kSize];
  int t = threadIdx.x;
  tile[t] = in[t]; // RACE-A
  if (synchronise)
    __syncthreads();
  BARRIER_IF_FIXED();
  out[t] = tile[kSize - 1 - t]; // RACE-B
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  mirror<<<1, kSize>>>(in, out, 0);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) { return 1000 + kSize - 1 - int(i); });
}
