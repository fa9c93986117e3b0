// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plain store to a counter that the other workgroups add to through a buffer resource. Atomics among themselves are
// no race.
// RUN: %twin --hooks=native,device %s
#include "buffers.h"

constexpr int kThreads = 64, kGroups = 4;

__global__ void count(int *counter, int *unrelated) {
  const auto buffer = bufferOf(counter, 4);
  __builtin_amdgcn_raw_ptr_buffer_atomic_add_i32(1, buffer, 0, 0, 0); // RACE-A
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *(twin::kFixed ? unrelated : counter) = 3; // RACE-B
}

int main() {
  int *counter = twin::onDevice(std::vector<int>(1)), *unrelated = twin::onDevice(std::vector<int>(1));
  count<<<kGroups, kThreads>>>(counter, unrelated);
  return twin::compare(twin::fromDevice(counter, 1), [](size_t) { return kThreads * kGroups; });
}
