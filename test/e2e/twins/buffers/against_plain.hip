// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A wide store through a buffer resource against plain loads of the same memory by another workgroup. The last lane's
// store reaches behind the end of the buffer: those dwords are not written, and race with nobody.
// RUN: %twin --hooks=native,device %s
#include "buffers.h"

constexpr int kThreads = 64, kWritten = 4 * kThreads - 2;

__global__ void fill(int *memory, int *out) {
  const int t = threadIdx.x;
  if (blockIdx.x == 0) {
    const Int4 value = {t, t, t, t};
    __builtin_amdgcn_raw_buffer_store_b128(value, bufferOf(memory, kWritten * 4), t * 16, 0, 0); // RACE-A
  } else if (t < 2) {
#ifdef FIXED
    out[t] = memory[kWritten + t]; // the other half of that lane's
#else
    out[t] = memory[kWritten - 2 + t]; // RACE-B
#endif
  }
}

int main() {
  int *memory = twin::onDevice(std::vector<int>(4 * kThreads + 4, 7)), *out = twin::onDevice(std::vector<int>(4));
  fill<<<2, kThreads>>>(memory, out);
  twin::fromDevice(out, 4);
  return twin::compare(twin::fromDevice(memory, 4 * kThreads + 4), [](size_t i) { return i < kWritten ? int(i / 4) : 7; });
}
