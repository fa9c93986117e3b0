// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A failed compare-exchange acquires by its failure order only: relaxed, it orders nothing.
// RUN: %twin --hooks=native %s
#include "twin.h"

#ifdef FIXED
#define FAILURE __ATOMIC_ACQUIRE
#else
#define FAILURE __ATOMIC_RELAXED
#endif

__global__ void pass(int *flag, int *data, int *out) {
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0) {
    *data = 42; // RACE-A
    __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    return;
  }
  for (int seen = 7; seen != 1;) { // never 7: every exchange fails and says what it saw
    seen = 7;
    __hip_atomic_compare_exchange_strong(flag, &seen, 9, __ATOMIC_ACQUIRE, FAILURE, __HIP_MEMORY_SCOPE_AGENT);
  }
  *out = *data; // RACE-B
}

int main() {
  int *flag = twin::onDevice(std::vector<int>(1)), *data = twin::onDevice(std::vector<int>(1)), *out = twin::onDevice(std::vector<int>(1));
  pass<<<2, 64>>>(flag, data, out);
  return twin::compare(twin::fromDevice(out, 1), [](size_t) { return 42; });
}
