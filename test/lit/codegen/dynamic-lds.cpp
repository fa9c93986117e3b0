// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dynamic LDS: the kernel entry says so, sub-dword accesses ask for finer cells, static bytes stay as they were.
// RUN: %clang_hip --offload-arch=gfx90a -O2 -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.co
// RUN: wavesan-site-dump %t.co | FileCheck %s
// RUN: wavesan-site-dump --ir %t.co | opt -S | FileCheck --check-prefix=IR %s
// RUN: %clang_hip --offload-arch=gfx90a -O2 -fpass-plugin=%plugin -S %s -o - | FileCheck --check-prefix=ASM %s
#include "device.h"

extern "C" __shared__ short dynamicTile[];

// CHECK: kernel words twin words.wavesan granule 2 sites 3 at
extern "C" __global__ void words(int *out) {
  __shared__ int tile[64];
  tile[threadX()] = 1;
  syncThreads();
  out[threadX()] = tile[63 - threadX()];
}
// CHECK: kernel halves twin halves.wavesan granule 1 sites 3 dynamic-lds at
extern "C" __global__ void halves(short *out) {
  dynamicTile[threadX()] = 1;
  syncThreads();
  out[threadX()] = dynamicTile[63 - threadX()];
}
// CHECK: kernel bytes twin bytes.wavesan granule 0 sites 3 at
extern "C" __global__ void bytes(char *out) {
  __shared__ char tile[64];
  tile[threadX()] = 1;
  syncThreads();
  out[threadX()] = tile[63 - threadX()];
}
// CHECK: access write size 2 'store' of dynamicTile
// IR: @dynamicTile.wavesan = external {{.*}}addrspace(3) global [0 x i16]
// ASM: .amdhsa_kernel words.wavesan
// ASM-NEXT: .amdhsa_group_segment_fixed_size 256
// ASM: .amdhsa_kernel halves.wavesan
// ASM-NEXT: .amdhsa_group_segment_fixed_size 0
