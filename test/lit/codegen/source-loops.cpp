// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The site table has the loops of the source, also those that the optimiser has unrolled away; nested and inlined ones;
// not those without an access in them. Nothing of it is left in the module.
// RUN: %clang_hip --offload-arch=gfx90a -O3 -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.co
// RUN: wavesan-site-dump %t.co | FileCheck %s
// RUN: wavesan-site-dump --ir %t.co | opt -S | FileCheck --check-prefix=IR %s
// RUN: %clang_hip --offload-arch=gfx90a -O0 -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.O0.co
// RUN: wavesan-site-dump %t.O0.co | FileCheck %s
// RUN: %clang_hip --offload-arch=gfx90a -O3 -g0 -fpass-plugin=%plugin -c %s -o %t.g0.co
// RUN: wavesan-site-dump %t.g0.co | FileCheck --check-prefix=NONE %s
#include "device.h"

__device__ inline int twice(int *tile) {
  int sum = 0;
  for (int i = 0; i < 2; ++i)
    sum += tile[i];
  return sum;
}

extern "C" __global__ void k(int *out, int n) {
  __shared__ int tile[64];
  int sum = 0;
  for (int pass = 0; pass < 3; ++pass) {
    tile[threadX()] = out[threadX()];
    syncThreads();
    for (int i = 0; i < 4; ++i)
      sum += tile[(threadX() + i) & 63];
    syncThreads();
  }
  while (n > 3)
    n = n / 2 + __builtin_amdgcn_readfirstlane(n) % 3;
  out[threadX()] = sum + n + twice(tile);
}
// CHECK-DAG: loop {{.*}}twice{{.*}} ({{.*}}source-loops.cpp:[[#@LINE-19]]-[[#@LINE-18]])
// CHECK-DAG: loop k ({{.*}}source-loops.cpp:[[#@LINE-12]]-[[#@LINE-6]])
// CHECK-DAG: loop k ({{.*}}source-loops.cpp:[[#@LINE-10]]-[[#@LINE-9]])
// CHECK-NOT: loop
// IR-NOT: wavesan.source.loops
// NONE-NOT: loop
