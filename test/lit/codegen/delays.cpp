// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Delays (docs/replay.md) cost a check that has none one scalar test and branch, in front of what it does: the code behind it
// is at the check's end, and kernels have none of it. Both load the word with the bit anyway.
// REQUIRES: llvm-22
// RUN: %clang_hip --offload-arch=gfx90a -O2 -fpass-plugin=%plugin -S %s -o %t.90a.s
// RUN: FileCheck --input-file=%t.90a.s %s && FileCheck --check-prefix=GLOBAL --input-file=%t.90a.s %s && FileCheck --check-prefix=KERNEL --input-file=%t.90a.s %s
// RUN: %clang_hip --offload-arch=gfx942 -O2 -fpass-plugin=%plugin -S %s -o %t.942.s
// RUN: FileCheck --input-file=%t.942.s %s && FileCheck --check-prefix=GLOBAL --input-file=%t.942.s %s && FileCheck --check-prefix=KERNEL --input-file=%t.942.s %s
// RUN: %clang_hip --offload-arch=gfx1030 -O2 -fpass-plugin=%plugin -S %s -o %t.1030.s
// RUN: FileCheck --input-file=%t.1030.s %s && FileCheck --check-prefix=GLOBAL --input-file=%t.1030.s %s && FileCheck --check-prefix=KERNEL --input-file=%t.1030.s %s
// RUN: %clang_hip --offload-arch=gfx1250 -O2 -fpass-plugin=%plugin -S %s -o %t.1250.s
// RUN: FileCheck --input-file=%t.1250.s %s && FileCheck --check-prefix=GLOBAL --input-file=%t.1250.s %s && FileCheck --check-prefix=KERNEL --input-file=%t.1250.s %s
#include "device.h"

extern "C" __global__ void shift(int *out) {
  __shared__ int tile[64];
  tile[threadX()] = 1;
  syncThreads();
  out[threadX()] = tile[63 - threadX()];
}

// CHECK-LABEL: {{^}}__wavesan_check:
// CHECK-NOT: s_sleep
// CHECK-NOT: s_cbranch
// CHECK: s_bitcmp{{[01]}}_b32 {{s[0-9]+}}, 25
// CHECK: s_cbranch_scc
// CHECK-NOT: s_sleep
// CHECK: ds_cmps
// CHECK-NOT: s_sleep
// CHECK: s_set{{pc_b64|_pc_i64}}
// CHECK: s_sleep 32

// GLOBAL-LABEL: {{^}}__wavesan_global_check:
// GLOBAL-NOT: s_sleep
// GLOBAL-NOT: s_cbranch
// GLOBAL: s_bitcmp{{[01]}}_b32 {{s[0-9]+}}, 25
// GLOBAL: s_cbranch_scc
// GLOBAL-NOT: s_sleep
// GLOBAL: global_atomic_cmps
// GLOBAL-NOT: s_sleep
// GLOBAL: s_set{{pc_b64|_pc_i64}}
// GLOBAL: s_sleep 32

// Its begin takes the address of the delays for a bit.
// KERNEL-LABEL: {{^}}shift.wavesan:
// KERNEL-NOT: s_sleep 32
// KERNEL: s_endpgm
