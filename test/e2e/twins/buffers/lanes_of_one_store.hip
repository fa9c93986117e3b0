// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes of one store of four dwords through a buffer resource, three dwords apart: the last dword of one lane is the first
// of the next. With four dwords between them they are apart.
// RUN: %twin --kind=lane-conflict --seeds=2 %s
#include "buffers.h"

constexpr int kThreads = 32, kStep = twin::kFixed ? 4 : 3;

__global__ void fill(const int *in, int *memory) {
  const int t = threadIdx.x;
  const Int4 value = {in[t], in[t], in[t], in[t]};
  __builtin_amdgcn_raw_buffer_store_b128(value, bufferOf(memory, kThreads * 16), t * kStep * 4, 0, 0); // RACE-A RACE-B
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kThreads)), *memory = twin::onDevice(std::vector<int>(4 * kThreads));
  fill<<<1, kThreads>>>(in, memory);
  return twin::compare(twin::fromDevice(memory, 4 * kThreads), [](size_t i) { return int(1000 + i / 4); });
}
