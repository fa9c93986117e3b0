// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two waves that wait for different named barriers, and a third that waits for the workgroup's, never finish: the error names
// each one's line and what its barrier lacks.
// RUN: %wavesan cc -x hip --cuda-device-only --no-gpu-bundle-output -nogpuinc -nogpulib --offload-arch=gfx1250 -O2 -I%include %s -o %t.co
// RUN: clang++ -x c++ -std=c++20 -O1 -I%include %s -lhsa-runtime64 -o %t
// RUN: %status 4 %wavesan run --device=cpu --gpu=gfx1250 -- %t %t.co 2>&1 | FileCheck %s
#include "direct.h"

constexpr int kThreads = 96;

#ifdef __HIP__
__shared__ __amdgpu_named_workgroup_barrier_t left, right;

extern "C" __global__ void kernel(const int *in, int *out) {
  const int t = direct::thread(), wave = __builtin_amdgcn_readfirstlane(t / 32);
  if (wave == 0) {
    __builtin_amdgcn_s_barrier_join(&left);
    __builtin_amdgcn_s_barrier_signal_var(&left, 2);
    __builtin_amdgcn_s_barrier_wait(1); // CHECK-DAG: wave 0 at {{.*}}named_barrier_stuck.hip:[[@LINE]] (named barrier `left`: 1 of 2 signals)
    __builtin_amdgcn_s_barrier_signal_var(&right, 2);
  } else if (wave == 1) {
    __builtin_amdgcn_s_barrier_join(&right);
    __builtin_amdgcn_s_barrier_signal_var(&right, 2);
    __builtin_amdgcn_s_barrier_wait(1); // CHECK-DAG: wave 1 at {{.*}}named_barrier_stuck.hip:[[@LINE]] (named barrier `right`: 1 of 2 signals)
    __builtin_amdgcn_s_barrier_signal_var(&left, 2);
  }
  direct::syncthreads(); // CHECK-DAG: wave 2 at {{.*}}direct.h:
  out[t] = in[t];
}
// CHECK-DAG: deadlock: 3 of 3 waves of workgroup (0, 0, 0) wait for a barrier that cannot complete
#else
int main(int argc, char **argv) {
  return direct::compare(direct::run(argc, argv, 1, kThreads, kThreads), [](int i) { return 1000 + i; });
}
#endif
