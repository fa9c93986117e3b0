// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waves 0 and 1 meet at one named barrier, waves 2 and 3 at another one. Neither orders a wave with those of the other pair.
// RUN: %direct --targets=gfx1250 --hooks=native --seeds=10 %s
#include "direct.h"

constexpr int kThreads = 128;

#ifdef __HIP__
__shared__ __amdgpu_named_workgroup_barrier_t pair[2];

extern "C" __global__ void kernel(const int *in, int *out) {
  __shared__ int tile[kThreads];
  const int t = direct::thread(), which = __builtin_amdgcn_readfirstlane(t / 64);
  tile[t] = in[t]; // RACE-A
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier_join(&pair[which]);
  __builtin_amdgcn_s_barrier_signal_var(&pair[which], 2);
  __builtin_amdgcn_s_barrier_wait(1);
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[t] = tile[kFixed ? t ^ 32 : t ^ 64]; // RACE-B
}
#else
int main(int argc, char **argv) {
  return direct::compare(direct::run(argc, argv, 1, kThreads, kThreads), [](int i) { return 1000 + (i ^ 32); });
}
#endif
