// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workgroups of 100: the last wave is not full, and the last workgroup has less to do.
// RUN: %twin %s
#include "twin.h"

constexpr int kThreads = 100, kSize = 250;

__global__ void mirrorChunks(const int *in, int *out) {
  __shared__ int tile[kThreads];
  int t = threadIdx.x, first = blockIdx.x * kThreads, i = first + t;
  int count = kSize - first < kThreads ? kSize - first : kThreads;
  if (t < count)
    tile[t] = in[i]; // RACE-A
  BARRIER_IF_FIXED();
  if (t < count)
    out[i] = tile[count - 1 - t]; // RACE-B
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  mirrorChunks<<<3, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) {
    size_t first = i / kThreads * kThreads, count = kSize - first < kThreads ? kSize - first : kThreads;
    return int(1000 + first + count - 1 - (i - first));
  });
}
