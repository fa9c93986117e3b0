// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LDS between waves, on every generation: the barrier of gfx12 is a signal and a wait.
// RUN: %direct %s
#include "direct.h"

constexpr int kThreads = 256;

#ifdef __HIP__
extern "C" __global__ void kernel(const int *in, int *out) {
  __shared__ int tile[kThreads];
  const int t = direct::thread();
  tile[t] = in[t]; // RACE-A
  direct::syncthreadsIfFixed();
  out[t] = tile[kThreads - 1 - t]; // RACE-B
}
#else
int main(int argc, char **argv) {
  return direct::compare(direct::run(argc, argv, 1, kThreads, kThreads), [](int i) { return 1000 + kThreads - 1 - i; });
}
#endif
