// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies complete in order: vmcnt(1) leaves the younger of two under way.
// RUN: %twin --kind=missing-wait --seeds=3 %s
#include "async.h"

constexpr int kSize = 128;

__global__ void two(const int *in, int *out) {
  __shared__ int first[kSize], second[kSize];
  const int t = threadIdx.x;
  copyAsync(in + t, first + waveStart());
  copyAsync(in + kSize + t, second + waveStart()); // RACE-A
  WAIT_VMCNT(1);
  BARE_BARRIER();
  int sum = first[kSize - 1 - t];
#ifdef FIXED
  WAIT_VMCNT(0);
  BARE_BARRIER();
#endif
  sum += second[kSize - 1 - t]; // RACE-B
  out[t] = sum;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(2 * kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  two<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize),
                       [](size_t i) { return int(1000 + kSize - 1 - i + 1000 + 2 * kSize - 1 - i); });
}
