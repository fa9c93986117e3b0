// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An array of records with a stride: each lane its record, and the last lane another one too.
// RUN: %twin --hooks=native,device %s
#include "buffers.h"

constexpr int kThreads = 128, kWords = 3;

// The check of the index: on gfx9 the stride alone says so.
#ifdef __GFX9__
#define RECORDS 0x00027000
#else
#define RECORDS 0x11016000
#endif

extern "C" __device__ void storeRecord(int value, __amdgpu_buffer_rsrc_t buffer, int index, int offset, int scalar,
                                       int policy) __asm("llvm.amdgcn.struct.ptr.buffer.store.i32");

__global__ void write(int *memory) {
  const auto buffer = __builtin_amdgcn_make_buffer_rsrc(memory, kWords * 4, kThreads, RECORDS);
  const int t = threadIdx.x;
  storeRecord(t, buffer, t, 4, 0, 0); // RACE-A
  if (t == kThreads - 1)
    storeRecord(9, buffer, twin::kFixed ? kThreads : 3, 4, 0, 0); // RACE-B
}

int main() {
  int *memory = twin::onDevice(std::vector<int>((kThreads + 16) * kWords));
  write<<<1, kThreads>>>(memory);
  return twin::compare(twin::fromDevice(memory, (kThreads + 16) * kWords),
                       [](size_t i) { return i % kWords == 1 && i < kThreads * kWords ? int(i / kWords) : 0; });
}
