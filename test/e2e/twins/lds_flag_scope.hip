// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A flag in LDS whose scope is one wave passes data from one wave to another.
// The two atomics are reported, and so is what they were to order.
// RUN: %cc %s -o %t.racy
// RUN: %cc -DFIXED %s -o %t.fixed
// RUN: %status 66 %run90a -- %t.racy 2> %t.1
// RUN: FileCheck %s --input-file=%t.1
// RUN: %status 66 %run1030 -- %t.racy 2> %t.2
// RUN: FileCheck %s --input-file=%t.2
// RUN: %run90a -- %t.fixed 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: %run1030 -- %t.fixed 2>&1 | FileCheck %s --check-prefix=CLEAN
// CHECK: scope-too-small: LDS {{.*}} on `flag`
// CHECK: FLAG-B
// CHECK: FLAG-A
// CHECK: fix: use __HIP_MEMORY_SCOPE_WORKGROUP
// CHECK: scope-too-small: LDS {{.*}} on `value`
// CHECK: RACE-B
// CHECK: RACE-A
// CHECK: fix: use __HIP_MEMORY_SCOPE_WORKGROUP
// CHECK: : 2 races
// CLEAN: wavesan: checked {{[1-9][0-9]*}} accesses in 1 kernels: 0 races
#include "twin.h"

constexpr int kThreads = 128;
#ifdef FIXED
#define SCOPE __HIP_MEMORY_SCOPE_WORKGROUP
#else
#define SCOPE __HIP_MEMORY_SCOPE_WAVEFRONT
#endif

__global__ void pass(const int *in, int *out) {
  __shared__ int value, flag;
  int t = threadIdx.x;
  if (t == 0)
    flag = 0;
  __syncthreads();
  if (t == 0) {
    value = in[0];                                            // RACE-A
    __hip_atomic_store(&flag, 1, __ATOMIC_RELEASE, SCOPE);    // FLAG-A
  } else if (t == 64) {
    while (!__hip_atomic_load(&flag, __ATOMIC_ACQUIRE, SCOPE)) // FLAG-B
      ;
    out[0] = value; // RACE-B
  }
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(1)), *out = twin::onDevice(std::vector<int>(1));
  pass<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, 1), [](size_t) { return 1000; });
}
