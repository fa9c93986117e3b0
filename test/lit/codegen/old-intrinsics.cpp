// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HIP 5 names intrinsics that LLVM has removed. Both kernels get the atomic, and the twin's is checked.
// RUN: %clang_hip --offload-arch=gfx90a -O2 -fpass-plugin=%plugin -c %s -o %t.co
// RUN: wavesan-site-dump %t.co | FileCheck %s
// RUN: %clang_hip --offload-arch=gfx90a -O0 -fpass-plugin=%plugin -S %s -o - | FileCheck --check-prefix=ASM %s
// RUN: %clang_hip --offload-arch=gfx90a -O2 -fpass-plugin=%plugin -S %s -o - | FileCheck --check-prefix=ASM %s
#include "device.h"

extern "C" __global__ void k(unsigned *counter) {
  extern __device__ unsigned increment(unsigned *, unsigned, unsigned, unsigned, bool)
      __asm("llvm.amdgcn.atomic.inc.i32.p0i32");
  extern __device__ unsigned decrement(unsigned *, unsigned, unsigned, unsigned, bool)
      __asm("llvm.amdgcn.atomic.dec.i32.p0i32");
  increment(counter, 9, 0, 1, false);
  decrement(counter + 1, 9, 0, 1, false);
}
// CHECK: access read|write|atomic size 4 'atomicrmw uinc_wrap'
// CHECK: access read|write|atomic size 4 'atomicrmw udec_wrap'
// ASM-LABEL: k:
// ASM: {{global|flat}}_atomic_inc
// ASM: {{global|flat}}_atomic_dec
// ASM-LABEL: k.wavesan:
// ASM: {{global|flat}}_atomic_inc
// ASM: {{global|flat}}_atomic_dec
