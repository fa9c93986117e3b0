// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// -fgpu-rdc: refused when a kernel needs another module; two instrumented modules do not link into one code object, because
// site ids are per module. An error of the plugin is an error of the compiler.
// RUN: not %clang_hip --offload-arch=gfx90a -O2 -fgpu-rdc -fpass-plugin=%plugin -c -DEXTERNAL %s -o %t.o 2>&1 | FileCheck %s
// RUN: %clang_hip --offload-arch=gfx90a -O2 -fgpu-rdc -fpass-plugin=%plugin -c -DNAME=a %s -o %t.a.bc
// RUN: %clang_hip --offload-arch=gfx90a -O2 -fgpu-rdc -fpass-plugin=%plugin -c -DNAME=b %s -o %t.b.bc
// RUN: llc -filetype=obj %t.a.bc -o %t.a.o
// RUN: llc -filetype=obj %t.b.bc -o %t.b.o
// RUN: not ld.lld -shared %t.a.o %t.b.o -o %t.so 2>&1 | FileCheck --check-prefix=LINK %s
#include "device.h"

// CHECK: error: wavesan: kernel 'k' calls 'elsewhere(int)', which this module does not define: relocatable device code (-fgpu-rdc) is not supported
// LINK: error: duplicate symbol: __wavesan_sites_and_gpu_rdc_is_not_supported
#ifdef EXTERNAL
__device__ int elsewhere(int);
extern "C" __global__ void k(int *out) { *out = elsewhere(1); }
#else
extern "C" __global__ void NAME(int *out) { *out = 1; }
#endif
