// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Notes of what is written (docs/replay.md, "Touched chunks") cost a check without a map nothing beyond the test of the bit that delays have, too
// (delays.cpp): the store of a byte is at the end of the check of global memory, and nowhere else.
// REQUIRES: llvm-22
// RUN: %clang_hip --offload-arch=gfx90a -O2 -fpass-plugin=%plugin -S %s -o %t.90a.s && FileCheck --input-file=%t.90a.s %s
// RUN: %clang_hip --offload-arch=gfx942 -O2 -fpass-plugin=%plugin -S %s -o %t.942.s && FileCheck --input-file=%t.942.s %s
// RUN: %clang_hip --offload-arch=gfx1030 -O2 -fpass-plugin=%plugin -S %s -o %t.1030.s && FileCheck --input-file=%t.1030.s %s
// RUN: %clang_hip --offload-arch=gfx1250 -O2 -fpass-plugin=%plugin -S %s -o %t.1250.s && FileCheck --input-file=%t.1250.s %s
#include "device.h"

extern "C" __global__ void shift(int *out) {
  __shared__ int tile[64];
  tile[threadX()] = 1;
  syncThreads();
  out[threadX()] = tile[63 - threadX()];
}

// CHECK-LABEL: {{^}}__wavesan_check:
// CHECK-NOT: store_{{byte|b8}}
// CHECK: {{^}}__wavesan_global_check:
// CHECK-NOT: store_{{byte|b8}}
// CHECK: s_bitcmp{{[01]}}_b32 {{s[0-9]+}}, 25
// CHECK: s_cbranch_scc
// CHECK-NOT: store_{{byte|b8}}
// CHECK: global_atomic_cmps
// CHECK-NOT: store_{{byte|b8}}
// CHECK: s_set{{pc_b64|_pc_i64}}
// CHECK: global_store_{{byte|b8}}
// CHECK: {{^}}shift.wavesan:
// CHECK-NOT: store_{{byte|b8}}
// CHECK: s_endpgm
