// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A named barrier completes no access: without the fence before the signal, what was stored is still under way.
// RUN: %direct --targets=gfx1250 --hooks=native --kind=missing-fence --seeds=10 %s
#include "direct.h"

constexpr int kThreads = 64;

#ifdef __HIP__
__shared__ __amdgpu_named_workgroup_barrier_t barrier;

extern "C" __global__ void kernel(const int *in, int *out) {
  __shared__ int tile[kThreads];
  const int t = direct::thread();
  tile[t] = in[t]; // RACE-A
#ifdef FIXED
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
#endif
  __builtin_amdgcn_s_barrier_join(&barrier);
  __builtin_amdgcn_s_barrier_signal_var(&barrier, 2);
  __builtin_amdgcn_s_barrier_wait(1);
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[t] = tile[kThreads - 1 - t]; // RACE-B
}
#else
int main(int argc, char **argv) {
  return direct::compare(direct::run(argc, argv, 1, kThreads, kThreads), [](int i) { return 1000 + kThreads - 1 - i; });
}
#endif
