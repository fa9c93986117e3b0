// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel per kind of access and synchronisation, COUNT of it: the difference between two counts is what one adds.
// Addresses come from memory, so that no two can be computed from one another.
#include "words.h"

#ifndef COUNT
#error "compile with -DCOUNT=n"
#endif

extern "C" {
__shared__ int words[1024];
__shared__ Float4 quads[256];
__shared__ char bytes[1024];
__shared__ double doubles[256];
}

#define EACH _Pragma("clang loop unroll(full)") for (int i = 0; i < COUNT; ++i)

extern "C" __global__ void lds_store_4(const int *at) { EACH words[at[i * 64 + thread()]] = i; }
extern "C" __global__ void lds_load_4(const int *at, int *out) { EACH out[i * 64 + thread()] = words[at[i * 64 + thread()]]; }
extern "C" __global__ void lds_load_1(const int *at, char *out) { EACH out[i * 64 + thread()] = bytes[at[i * 64 + thread()]]; }
extern "C" __global__ void lds_load_8(const int *at, double *out) { EACH out[i * 64 + thread()] = doubles[at[i * 64 + thread()]]; }
extern "C" __global__ void lds_load_16(const int *at, Float4 *out) { EACH out[i * 64 + thread()] = quads[at[i * 64 + thread()]]; }
extern "C" __global__ void lds_atomic_add(const int *at) {
  EACH __scoped_atomic_fetch_add(&words[at[i * 64 + thread()]], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
}
extern "C" __global__ void generic_store_4(int **at) { EACH *at[i * 64 + thread()] = i; }
extern "C" __global__ void global_store_4(int *out, const int *at) { EACH out[at[i * 64 + thread()]] = i; }
extern "C" __global__ void global_atomic_add(int *out, const int *at) {
  EACH __scoped_atomic_fetch_add(&out[at[i * 64 + thread()]], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
extern "C" __global__ void lds_copy_run_time_length(const int *at, const int *from) {
  EACH __builtin_memcpy(&bytes[at[i]], from + i * 64, unsigned(at[i + 64]));
}
extern "C" __global__ void barrier_with_fences() { EACH barrier(); }
// With a store of global memory, which costs nothing, so that the fences do not become one.
extern "C" __global__ void fence(int *out) {
  EACH {
    out[i * 64 + thread()] = i;
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
  }
}
