// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches whose arms do not meet in memory, or only behind their join: loops left at different times, early returns,
// lanes of one wave that write to one place one after the other.
// RUN: %clean --hooks=native --seeds=2 %s
#include "twin.h"

constexpr int kThreads = 32;

__global__ void orderly(const int *in, int *out, int *count) {
  __shared__ int tile[kThreads], both[2];
  int t = threadIdx.x;
  if (t % 2)
    tile[t] = in[t];
  else
    tile[t] = -in[t];
  for (int k = 0; k < t % 5; ++k)
    tile[t] += 1;
  __syncthreads();
  int v = tile[t ^ 1];
  if (t < 2) {
    both[t] = v;
  }
  for (int k = 0; k < 64; ++k) // one lane after the other
    if (k == t % 64) {
      if (t % 3 == 0)
        *count += 1;
      else
        *count += 2;
    }
  __syncthreads();
  if (t >= 16) {
    out[t] = v;
    return;
  }
  out[t] = v + both[0] - both[0];
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kThreads)), *out = twin::onDevice(std::vector<int>(kThreads));
  int *count = twin::onDevice(std::vector<int>(1));
  orderly<<<1, kThreads>>>(in, out, count);
  int sum = twin::fromDevice(count, 1)[0];
  if (sum != 11 + 2 * 21)
    return twin::verdict(1);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t i) {
    int j = int(i ^ 1);
    return (j % 2 ? 1000 + j : -1000 - j) + j % 5;
  });
}
