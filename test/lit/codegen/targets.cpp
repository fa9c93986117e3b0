// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Twins on every supported target: machine code, its shape, its resources (no scratch memory, few registers).
//
// LLVM 19 knows neither gfx950 nor gfx1250, and allocates registers in its own way.
// REQUIRES: llvm-22
//
// DEFINE: %{kernels} = lds ldsWide ldsBytes dynamicLds flat atomics exchange globalOnly range barriers
// DEFINE: %{arch} = unset
// DEFINE: %{compile} = %clang_hip --offload-arch=%{arch} -O2 -gline-tables-only -fpass-plugin=%plugin %s
// DEFINE: %{object} = %{compile} -c -o %t.%{arch}.co && wavesan-site-dump %t.%{arch}.co | FileCheck --check-prefix=SITES %s
// DEFINE: %{text} = %{compile} -S -o %t.%{arch}.s && %python %S/../tools/check_resources.py %t.%{arch}.s %{kernels}
// DEFINE: %{shape} = FileCheck --input-file=%t.%{arch}.s %s
//
// REDEFINE: %{arch} = gfx908
// RUN: %{object}
// RUN: %{text}
// RUN: %{shape} --check-prefixes=CHECK,FULL
// REDEFINE: %{arch} = gfx90a
// RUN: %{object}
// RUN: %{text}
// RUN: %{shape} --check-prefixes=CHECK,FULL
// REDEFINE: %{arch} = gfx942
// RUN: %{object}
// RUN: %{text}
// RUN: %{shape} --check-prefixes=CHECK,FULL
// REDEFINE: %{arch} = gfx950
// RUN: %{object}
// RUN: %{text}
// RUN: %{shape} --check-prefixes=CHECK,FULL
// REDEFINE: %{arch} = gfx1030
// RUN: %{object}
// RUN: %{text}
// RUN: %{shape} --check-prefixes=CHECK,FULL
// REDEFINE: %{arch} = gfx1100
// RUN: %{object}
// RUN: %{text}
// RUN: %{shape} --check-prefixes=CHECK,FULL
// REDEFINE: %{arch} = gfx1151
// RUN: %{object}
// RUN: %{text}
// RUN: %{shape} --check-prefixes=CHECK,FULL
// REDEFINE: %{arch} = gfx1201
// RUN: %{object}
// RUN: %{text}
// RUN: %{shape} --check-prefixes=CHECK,SPLIT
// REDEFINE: %{arch} = gfx1250
// RUN: %{object}
// RUN: %{text}
// RUN: %{shape} --check-prefixes=CHECK,SPLIT
//
// All of them in one compilation.
// RUN: %clang -x hip --cuda-device-only -nogpuinc -nogpulib -mcode-object-version=4 -O2 -fpass-plugin=%plugin -I%inputs %s -c -o %t.fat --offload-arch=gfx908 --offload-arch=gfx90a --offload-arch=gfx942 --offload-arch=gfx950 --offload-arch=gfx1030 --offload-arch=gfx1100 --offload-arch=gfx1151 --offload-arch=gfx1201 --offload-arch=gfx1250
// RUN: clang-offload-bundler --type=o --input=%t.fat --list | FileCheck --check-prefix=FAT %s
// RUN: clang-offload-bundler --type=o --input=%t.fat --unbundle --targets=host-x86_64-unknown-linux-gnu-,hipv4-amdgcn-amd-amdhsa--gfx1250 --output=%t.host --output=%t.last
// RUN: wavesan-site-dump %t.last | FileCheck --check-prefix=SITES %s
#include "target_kernels.hip.h"

// FAT-COUNT-9: amdgcn-amd-amdhsa--gfx

// SITES-DAG: kernel lds twin lds.wavesan granule 2
// SITES-DAG: kernel flat twin flat.wavesan granule 2
// SITES-DAG: kernel ldsBytes twin ldsBytes.wavesan granule 0
// SITES-DAG: kernel dynamicLds twin dynamicLds.wavesan granule 2 sites 3 dynamic-lds
// SITES-DAG: kernel barriers twin barriers.wavesan

// CHECK: .amdgcn_target "amdgcn-amd-amdhsa--gfx
// CHECK-LABEL: {{^}}__wavesan_check:
// The compare-and-swap of a publication, in LDS and in global memory.
// CHECK-DAG: ds_{{cmpst|cmpstore}}_rtn_b64
// CHECK-DAG: global_atomic_cmps{{w|wap}}
// CHECK: s_{{setpc_b64|set_pc_i64}}

// Each access of LDS is checked before it is executed.
// CHECK-LABEL: {{^}}lds.wavesan:
// CHECK: s_swap{{pc_b64|_pc_i64}}
// CHECK: ds_{{write|store}}_b32
// CHECK: s_barrier
// CHECK: s_swap{{pc_b64|_pc_i64}}
// CHECK: ds_{{read|load}}_b32
// CHECK: s_endpgm

// A generic pointer is compared with the LDS aperture, and only then checked.
// CHECK-LABEL: {{^}}flat.wavesan:
// CHECK: src_shared_base
// CHECK: s_swap{{pc_b64|_pc_i64}}
// CHECK: flat_store_{{dword|b32}}
// CHECK: s_endpgm

// Both halves of a split barrier have their hook: the arrival is published before the signal, the epoch changes after the
// wait.
// CHECK-LABEL: {{^}}barriers.wavesan:
// FULL: ds_{{write|store}}
// FULL: s_barrier
// SPLIT: ds_store
// SPLIT: s_barrier_signal -1
// SPLIT: s_barrier_wait -1
// SPLIT: ds_store
// CHECK: s_endpgm
