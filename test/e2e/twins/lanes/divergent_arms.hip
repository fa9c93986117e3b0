// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One arm of a branch writes what the other reads: which of them a wave executes first is the compiler's choice.
// RUN: %twin --kind=wave-order-dependent --warning --one-wave --hooks=native --seeds=2 %s
// RUN: %twin --kind=wave-order-dependent --one-wave --hooks=native --options=wave_order_dependent=error %s
// RUN: %twin --kind=wave-order-dependent --one-wave --hooks=native --options=wave_order=language %s
#include "twin.h"

constexpr int kThreads = 32;

__global__ void arms(const int *in, int *out) {
  __shared__ int tile[kThreads];
  int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
#ifdef FIXED
  if (t < 16)
    tile[t] = in[t] + 7;
  __syncthreads();
  out[t] = t < 16 ? 0 : tile[t - 16];
#else
  if (t < 16) {
    tile[t] = in[t] + 7; // RACE-A
    out[t] = 0;
  } else {
    out[t] = tile[t - 16]; // RACE-B
  }
#endif
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kThreads)), *out = twin::onDevice(std::vector<int>(kThreads));
  arms<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t i) { return i < 16 ? 0 : int(1007 + i - 16); });
}
