// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Only the first wave goes on to the second barrier; waves end as wholes.
// RUN: %twin --kind=early-exit --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 2, kSize = 256;

__global__ void partly(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x, i = blockIdx.x * kSize + t;
  tile[t] = in[i];
  __syncthreads();
  out[i] = tile[t] + 1;
#ifdef FIXED
  __syncthreads();
#else
  if (t >= 64) // RACE-A
    return;
  __syncthreads(); // RACE-B
#endif
  if (t < 64)
    out[i] += tile[t];
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  partly<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) { int v = int(1000 + i); return v + 1 + (i % kSize < 64 ? v : 0); });
}
