// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Through one buffer resource: the load of one wave against the store of another.
// RUN: %twin --hooks=native,device %s
#include "buffers.h"

constexpr int kThreads = 256;

__global__ void mirror(int *memory, int *out) {
  const auto buffer = bufferOf(memory, kThreads * 4);
  const int t = threadIdx.x;
  __builtin_amdgcn_raw_buffer_store_b32(1000 + t, buffer, t * 4, 0, 0); // RACE-A
  BARRIER_IF_FIXED();
  out[t] = __builtin_amdgcn_raw_buffer_load_b32(buffer, (kThreads - 1 - t) * 4, 0, 0); // RACE-B
}

int main() {
  int *memory = twin::onDevice(std::vector<int>(kThreads)), *out = twin::onDevice(std::vector<int>(kThreads));
  mirror<<<1, kThreads>>>(memory, out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t i) { return 1000 + kThreads - 1 - int(i); });
}
