// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The next round's copy goes into a buffer that others still read; two buffers and one barrier do. Dynamic LDS.
// RUN: %twin --hooks=native --seeds=3 %s
#include "async.h"

constexpr int kSize = 128, kRounds = 6;
#ifdef FIXED
constexpr int kBuffers = 2;
#else
constexpr int kBuffers = 1;
#endif

__global__ void streamed(const int *in, int *out) {
  extern __shared__ int tile[];
  const int t = threadIdx.x;
  int sum = 0;
  for (int k = 0; k < kRounds; ++k) {
    int *buffer = tile + k % kBuffers * kSize;
    copyAsync(in + k * kSize + t, buffer + waveStart()); // RACE-A
    WAIT_VMCNT(0);
    __syncthreads();
    sum += buffer[kSize - 1 - t] * (k + 1); // RACE-B
  }
  out[t] = sum;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize * kRounds)), *out = twin::onDevice(std::vector<int>(kSize));
  streamed<<<1, kSize, kBuffers * kSize * sizeof(int)>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) {
    int sum = 0;
    for (int k = 0; k < kRounds; ++k)
      sum += int(1000 + k * kSize + kSize - 1 - i) * (k + 1);
    return sum;
  });
}
