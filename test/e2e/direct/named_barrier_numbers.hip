// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Named barriers by number, in inline assembly: which access they order is not followed. The program is built and runs as it
// is, its kernel is listed, and the end is neither racy nor clean, with either hooks.
// RUN: %wavesan cc -x hip --cuda-device-only --no-gpu-bundle-output -nogpuinc -nogpulib --offload-arch=gfx1250 -O2 -I%include %s -o %t.co
// RUN: clang++ -x c++ -std=c++20 -O1 -I%include %s -lhsa-runtime64 -o %t
// RUN: %status 67 %wavesan run --device=cpu --gpu=gfx1250 -- %t %t.co 2>&1 | FileCheck %s
// RUN: env WAVESAN_OPTIONS=hooks=device %status 67 %wavesan run --device=cpu --gpu=gfx1250 -- %t %t.co 2>&1 | FileCheck %s
// CHECK-NOT: race:
// CHECK: wavesan: not checked: kernel {{.*}}kernel{{.*}}, 1 dispatch: its named barriers are called by number or in inline assembly
// CHECK: wavesan: checked 0 accesses in 0 kernels: 0 races
#include "direct.h"

constexpr int kThreads = 64, kRounds = 8;

#ifdef __HIP__
/// Barrier 1 is complete with `members` signals.
__device__ void init(int members) {
  asm volatile("s_mov_b32 m0, %0\n\ts_barrier_init 1" ::"s"(members << 16) : "m0", "memory");
}
__device__ void meet() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  asm volatile("s_barrier_signal 1\n\ts_barrier_wait 1" ::: "memory");
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

extern "C" __global__ void kernel(const int *in, int *out) {
  __shared__ int tile[kThreads];
  const int t = direct::thread();
  if (__builtin_amdgcn_readfirstlane(t / 32) == 0)
    init(2);
  direct::syncthreads();
  asm volatile("s_barrier_join 1" ::: "memory");
  direct::syncthreads(); // both have joined
  for (int round = 0; round < kRounds; ++round) {
    tile[t] = in[round * kThreads + t];
    meet();
    out[round * kThreads + t] = tile[kThreads - 1 - t];
    meet();
  }
}
#else
int main(int argc, char **argv) {
  return direct::compare(direct::run(argc, argv, 1, kThreads, kRounds * kThreads),
                         [](int i) { return 1000 + i / kThreads * kThreads + kThreads - 1 - i % kThreads; });
}
#endif
