// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Both workgroups store at the same offset: a race where the buffer is large enough, nothing at all where it is not.
// RUN: %twin --hooks=native %s
#include "buffers.h"

constexpr int kThreads = 64;
#ifdef FIXED
constexpr int kElements = kThreads;
#else
constexpr int kElements = 2 * kThreads;
#endif

__global__ void collide(int *memory, int elements) {
  const auto buffer = bufferOf(memory, elements * 4);
  const int t = threadIdx.x;
  __builtin_amdgcn_raw_buffer_store_b32(blockIdx.x + 1, buffer, (kThreads + t) * 4, 0, 0); // RACE-A RACE-B
  if (blockIdx.x == 0)
    __builtin_amdgcn_raw_buffer_store_b32(5, buffer, t * 4, 0, 0);
}

int main() {
  int *memory = twin::onDevice(std::vector<int>(2 * kThreads));
  collide<<<2, kThreads>>>(memory, kElements);
  return twin::compare(twin::fromDevice(memory, 2 * kThreads), [](size_t i) { return i < kThreads ? 5 : 0; });
}
