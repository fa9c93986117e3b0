// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A load in inline assembly, used before (or with -DWAITS: after) it was waited for.
#include "device.h"

#ifdef WAITS
#define USE "s_waitcnt vmcnt(0)\n v_add_f32 %0, 1.0, %0"
#else
#define USE "v_add_f32 %0, 1.0, %0\n s_waitcnt vmcnt(0)"
#endif

__global__ void scaled(const float *in, float *out) {
  float v;
  asm volatile("global_load_dword %0, %1, off\n " USE : "=&v"(v) : "v"(in + TID));
  out[TID] = v;
}
