// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compare-exchange that fails writes nothing, so nobody can acquire by it what stands before the fence. In the clean build
// it succeeds.
// RUN: %twin --hooks=native,device --seeds=5 %s
#include "twin.h"

constexpr int kExpected = twin::kFixed ? 0 : 5, kRounds = 300;

__global__ void pass(int *flag, int *data, int *out) {
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0) {
    *data = 42; // RACE-A
    __threadfence();
    atomicCAS(flag, kExpected, 1);
    return;
  }
  for (int round = 0; round < kRounds || twin::kFixed; ++round)
    if (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 1)
      break;
  *out = *data; // RACE-B
}

int main() {
  int *flag = twin::onDevice(std::vector<int>(1)), *data = twin::onDevice(std::vector<int>(1)), *out = twin::onDevice(std::vector<int>(1));
  pass<<<2, 64>>>(flag, data, out);
  return twin::compare(twin::fromDevice(out, 1), [](size_t) { return 42; });
}
