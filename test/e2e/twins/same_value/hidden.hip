// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each wave writes a constant, and then one of its lanes another value to the same place, before the wave's next barrier. What the
// check keeps of a wave may be the constant: it must not pass for all that the wave writes.
// RUN: %twin --hooks=native,device %s
#include "twin.h"

constexpr int kThreads = 128;

__global__ void last(const int *in, int *out) {
  __shared__ int value;
  int t = threadIdx.x;
#ifdef FIXED
  if (t == 1)
    value = in[t];
#else
  if (t % 64 == 0)
    value = 1; // RACE-A
  if (t % 64 == 1)
    *reinterpret_cast<short *>(&value) = short(in[t]); // RACE-B
#endif
  __syncthreads();
  out[t] = value != 0;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kThreads)), *out = twin::onDevice(std::vector<int>(kThreads));
  last<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t) { return 1; });
}
