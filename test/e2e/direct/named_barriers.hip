// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Producers and consumers that meet at two named barriers: `full` counts the producers, `empty` the consumers. Without the
// wait for `empty` a producer overwrites what a consumer may not have read.
// RUN: %direct --targets=gfx1250 --hooks=native --seeds=10 %s
// Nobody follows named barriers with the GPU's code: the dispatch is listed, and neither racy nor clean.
// RUN: env WAVESAN_OPTIONS=hooks=device %status 67 %wavesan run --device=cpu --gpu=gfx1250 -- %t.racy %t.racy.gfx1250 2>&1 | FileCheck %s
// RUN: env WAVESAN_OPTIONS=hooks=device %status 67 %wavesan run --device=cpu --gpu=gfx1250 -- %t.fixed %t.fixed.gfx1250 2>&1 | FileCheck %s
// CHECK-NOT: race:
// CHECK: not checked: {{.*}}kernel{{.*}} named barriers
// CHECK: wavesan: checked 0 accesses in 0 kernels: 0 races
#include "direct.h"

constexpr int kThreads = 128, kRounds = 8;

#ifdef __HIP__
using Barrier = __amdgpu_named_workgroup_barrier_t;
__shared__ Barrier full, empty;

extern "C" __global__ void kernel(const int *in, int *out) {
  __shared__ int stage[kThreads / 2];
  const int t = direct::thread(), half = t % (kThreads / 2);
  const int wave = __builtin_amdgcn_readfirstlane(t / 32);
  if (wave == 0) {
    __builtin_amdgcn_s_barrier_init(&full, 2);
    __builtin_amdgcn_s_barrier_init(&empty, 2);
  }
  direct::syncthreads();
  if (wave < 2) {
    __builtin_amdgcn_s_barrier_join(&empty);
    direct::syncthreads();
    for (int round = 0; round < kRounds; ++round) {
      if (kFixed && round > 0)
        __builtin_amdgcn_s_barrier_wait(1);
      __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
      stage[half] = in[round * (kThreads / 2) + half]; // RACE-A
      __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
      __builtin_amdgcn_s_barrier_signal_var(&full, 2);
    }
  } else {
    __builtin_amdgcn_s_barrier_join(&full);
    direct::syncthreads();
    for (int round = 0; round < kRounds; ++round) {
      __builtin_amdgcn_s_barrier_wait(1);
      __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
      out[round * (kThreads / 2) + half] = stage[kThreads / 2 - 1 - half]; // RACE-B
      __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
      __builtin_amdgcn_s_barrier_signal_var(&empty, 2);
    }
  }
}
#else
int main(int argc, char **argv) {
  constexpr int half = kThreads / 2;
  return direct::compare(direct::run(argc, argv, 1, kThreads, kRounds * half),
                         [](int i) { return 1000 + i / half * half + half - 1 - i % half; });
}
#endif
