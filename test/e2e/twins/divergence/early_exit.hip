// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work-items of the last workgroup leave before the barrier: part of one wave and the waves behind it.
// RUN: %twin --kind=early-exit --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 3, kSize = 256, kCount = 600;

__global__ void twice(const int *in, int *out, int n) {
  __shared__ int tile[kSize];
  int t = threadIdx.x, i = blockIdx.x * kSize + t;
#ifdef FIXED
  tile[t] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n)
    out[i] = tile[t] * 2;
#else
  if (i >= n) // RACE-A
    return;
  tile[t] = in[i];
  __syncthreads(); // RACE-B
  out[i] = tile[t] * 2;
#endif
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kCount)), *out = twin::onDevice(std::vector<int>(kCount));
  twice<<<kGroups, kSize>>>(in, out, kCount);
  return twin::compare(twin::fromDevice(out, kCount), [](size_t i) { return int(2000 + 2 * i); });
}
