// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two stores of different waves to the same elements: who is last decides.
// RUN: %twin %s
#include "twin.h"

constexpr int kThreads = 128, kSlots = 64;

__global__ void overwrite(int *out) {
  __shared__ int slot[kSlots];
  int t = threadIdx.x;
  if (t < kSlots)
    slot[t] = t; // RACE-A
  BARRIER_IF_FIXED();
  if (t >= kSlots)
    slot[t - kSlots] = 1000 + t; // RACE-B
  __syncthreads();
  out[t] = slot[t % kSlots];
}

int main() {
  int *out = twin::onDevice(std::vector<int>(kThreads));
  overwrite<<<1, kThreads>>>(out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t i) { return int(1000 + kSlots + i % kSlots); });
}
