// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code of the twins: a kernel descriptor, a kernarg segment that grew by the context pointer (aligned to 8), no
// calls of hooks, one of a check per access (two in LDS, two in global memory), one per barrier and each of its two fences, one at the end, its LDS atomics. At -O0 the hidden arguments follow (56 bytes in code object version 4).
// Functions in the order in which LLVM 22 writes them.
// REQUIRES: llvm-22
// RUN: %clang_hip --offload-arch=gfx90a -O2 -fpass-plugin=%plugin -S %s -o - | FileCheck -DBEFORE=16 -DAFTER=24 %s
// RUN: %clang_hip --offload-arch=gfx1030 -O2 -fpass-plugin=%plugin -S %s -o - | FileCheck -DBEFORE=16 -DAFTER=24 %s
// RUN: %clang_hip --offload-arch=gfx90a -O0 -fpass-plugin=%plugin -S %s -o - | FileCheck -DBEFORE=72 -DAFTER=80 %s
// RUN: %clang_hip --offload-arch=gfx1030 -O0 -fpass-plugin=%plugin -S %s -o - | FileCheck -DBEFORE=72 -DAFTER=80 %s
#include "device.h"

extern "C" __global__ void transpose(const float *in, float *out) {
  __shared__ float tile[64];
  tile[threadX()] = in[threadX()];
  syncThreads();
  out[threadX()] = tile[63 - threadX()];
}

// CHECK-NOT: __wavesan_lds_access
// CHECK-NOT: __wavesan_barrier
// CHECK-LABEL: {{^}}transpose:
// CHECK-NOT: ds_{{.*}}rtn
// CHECK: s_endpgm
// CHECK: .amdhsa_kernel transpose{{$}}
// CHECK: .amdhsa_group_segment_fixed_size 256
// CHECK: .amdhsa_kernarg_size [[BEFORE]]
// CHECK-LABEL: {{^}}__wavesan_check:
// CHECK: ds_{{.*}}rtn
// CHECK-LABEL: {{^}}transpose.wavesan:
// CHECK: s_getpc_b64
// CHECK-NEXT: s_add_u32 {{.*}}, __wavesan_global_check@rel32@lo+{{[0-9]+}}
// CHECK-COUNT-8: s_swappc
// CHECK-NOT: s_{{swappc|call}}
// CHECK: .amdhsa_kernel transpose.wavesan
// CHECK: .amdhsa_group_segment_fixed_size 256
// CHECK: .amdhsa_kernarg_size [[AFTER]]
// CHECK: .amdhsa_system_sgpr_workgroup_id_y 1
// CHECK: .amdhsa_system_vgpr_workitem_id 2
// CHECK: .section .wavesan.sites,"a"
// CHECK: .section .wavesan.ir,"a"
// CHECK: .amdgpu_metadata
// CHECK: .kernarg_segment_size: [[BEFORE]]
// CHECK: .symbol: transpose.kd
// CHECK: .name: wavesan.ctx
// CHECK-NEXT: .offset: 16
// CHECK-NEXT: .size: 8
// CHECK-NEXT: .value_kind: global_buffer
// CHECK: .kernarg_segment_size: [[AFTER]]
// CHECK: .symbol: transpose.wavesan.kd
