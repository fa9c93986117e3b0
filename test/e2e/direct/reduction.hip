// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction over waves by cross-lane moves and LDS, and an atomic between workgroups.
// RUN: %direct %s
#include "direct.h"

constexpr int kThreads = 256, kGroups = 3;

#ifdef __HIP__
extern "C" __global__ void kernel(const int *in, int *out) {
  __shared__ int partial[kThreads / 32];
  const int t = direct::thread(), wave = __builtin_amdgcn_wavefrontsize();
  const int lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  int sum = in[direct::group() * kThreads + t];
  for (int distance = wave / 2; distance > 0; distance /= 2)
    sum += __builtin_amdgcn_ds_bpermute((lane ^ distance) * 4, sum);
  if (lane == 0)
    partial[t / wave] = sum; // RACE-A
  direct::syncthreadsIfFixed();
  if (t == 0) {
    int total = 0;
    for (int k = 0; k < kThreads / wave; ++k)
      total += partial[k]; // RACE-B
    __scoped_atomic_fetch_add(out, total, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  }
}
#else
int main(int argc, char **argv) {
  return direct::compare(direct::run(argc, argv, kGroups, kThreads, kGroups * kThreads), [](int i) {
    return i == 0 ? kGroups * kThreads * (2000 + kGroups * kThreads - 1) / 2 : 0;
  });
}
#endif
