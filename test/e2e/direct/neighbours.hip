// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Global memory between workgroups, with arithmetic in several types.
// RUN: %direct --hooks=native %s
#include "direct.h"

constexpr int kThreads = 64, kGroups = 4;

#ifdef __HIP__
extern "C" __global__ void kernel(const int *in, int *out) {
  const int i = direct::group() * kThreads + direct::thread();
  const float half = float(in[i]) * 0.5f;
  const _Float16 small = _Float16(i % 16);
  const long wide = (long)in[i] * in[i];
  const int value = int(half * 2.0f) + int(small * small) + int(wide >> 20) + __builtin_popcount(i);
  out[i] = value; // RACE-A
  if (!kFixed && i == 0)
    out[kThreads * 2 + 5] = 1; // RACE-B
}
#else
int main(int argc, char **argv) {
  return direct::compare(direct::run(argc, argv, kGroups, kThreads, kGroups * kThreads), [](int i) {
    const long wide = long(1000 + i) * (1000 + i);
    return 1000 + i + (i % 16) * (i % 16) + int(wide >> 20) + __builtin_popcount(unsigned(i));
  });
}
#endif
