// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each work-item leaves the loop when its own number has been halved to zero.
// RUN: %twin --kind=early-exit --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 2, kSize = 192;

__global__ void halve(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x, i = blockIdx.x * kSize + t, value = t, steps = 0;
  (void)in;
#ifdef FIXED
  for (int k = 0; k < 8; ++k) {
    if (value != 0) {
      value /= 2;
      ++steps;
    }
#else
  for (;;) {
    if (value == 0) // RACE-A
      break;
    value /= 2;
    ++steps;
#endif
    tile[t] = steps;
    __syncthreads(); // RACE-B
  }
  out[i] = steps ? tile[t] : 0;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  halve<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) { int n = 0; for (size_t v = i % kSize; v; v /= 2) ++n; return n; });
}
