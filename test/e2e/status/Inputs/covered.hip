// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two waves: one reads an element several times, the other writes it. Nothing orders them.
#include "twin.h"

__global__ void twice(int *data, int *out) {
  int t = threadIdx.x & 63, wave = threadIdx.x / 64;
  if (wave == 0) {
    int first = data[t];
    out[t] = 1; // may be the same memory for all the compiler knows
    int second = data[t];
    out[t] = first + second;
  }
  BARRIER_IF_FIXED();
  if (wave == 1)
    data[t] = 0;
}

int main() {
  int *data = twin::onDevice(twin::counting<int>(64)), *out = twin::onDevice(std::vector<int>(64));
  twice<<<1, 128>>>(data, out);
  return twin::compare(twin::fromDevice(out, 64), [](size_t i) { return int(2000 + 2 * i); });
}
