// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sections survive every optimisation level, with and without debug info, in the linked code object, and the linker's
// --gc-sections; the embedded IR parses and holds originals, twins and undefined hooks.
// RUN: %clang_hip --offload-arch=gfx90a -O0 -fpass-plugin=%plugin %s -o %t.o0
// RUN: wavesan-site-dump %t.o0 | FileCheck --check-prefixes=SITES,NODEBUG %s
// RUN: %clang_hip --offload-arch=gfx90a -O1 -g -fpass-plugin=%plugin %s -o %t.o1
// RUN: wavesan-site-dump %t.o1 | FileCheck --check-prefixes=SITES,DEBUG %s
// RUN: %clang_hip --offload-arch=gfx90a -O2 -gline-tables-only -fpass-plugin=%plugin %s -o %t.o2
// RUN: wavesan-site-dump %t.o2 | FileCheck --check-prefixes=SITES,DEBUG %s
// RUN: %clang_hip --offload-arch=gfx1030 -O3 -fpass-plugin=%plugin %s -o %t.o3 -Xoffload-linker --gc-sections
// RUN: wavesan-site-dump %t.o3 | FileCheck --check-prefixes=SITES,NODEBUG %s
// RUN: llvm-readelf -S --wide %t.o3 | FileCheck --check-prefix=ELF %s
// RUN: wavesan-site-dump --ir %t.o3 | opt -passes=verify -S | FileCheck --check-prefix=IR %s
// RUN: wavesan-site-dump --ir %t.o1 | opt -passes=verify -S | FileCheck --check-prefix=IR %s
// RUN: wavesan-site-dump --ir %t.o0 | opt -passes=verify -S | FileCheck --check-prefix=IR %s
#include "device.h"

template <class T> __device__ __noinline void put(T *where, T value) { *where = value; }

__global__ void kernel(float *out) {
  __shared__ float tile[64];
  put(&tile[threadX()], 1.0f);
  syncThreads();
  out[threadX()] = tile[63 - threadX()];
}

// SITES: kernel _Z6kernelPf twin _Z6kernelPf.wavesan granule 2 sites 3 at
// DEBUG-SAME: {{.*}}sections.cpp:[[# @LINE - 8]]
// SITES-NOT: skip
// SITES: access write size 4 'store' of tile
// DEBUG-SAME: at {{(void )?}}put<float>{{.*}}sections.cpp:[[# @LINE - 13]]:{{[0-9]+}}) <- kernel{{.*}}sections.cpp:[[# @LINE - 9]]:3)
// NODEBUG-NOT:  at
// SITES: access read size 4 'load' of tile
// DEBUG-SAME: at kernel{{.*}}sections.cpp:[[# @LINE - 10]]:
// ELF: .wavesan.sites PROGBITS {{.*}} A 
// ELF: .wavesan.ir PROGBITS {{.*}} A 
// IR-DAG: define {{.*}}@_Z6kernelPf(
// IR-DAG: define {{.*}}@_Z6kernelPf.wavesan(
// IR-DAG: declare {{.*}}@__wavesan_lds_access(
// IR-DAG: !wavesan.twins = !{
