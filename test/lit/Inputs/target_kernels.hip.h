// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel per kind of access and synchronisation, for the tests over all targets.
#include "device.h"

typedef float Float4 __attribute__((ext_vector_type(4)));

extern "C" __shared__ int dynamicTile[];

extern "C" __global__ void lds(const float *in, float *out) {
  __shared__ float tile[256];
  tile[threadX()] = in[blockX() * 256 + threadX()];
  syncThreads();
  out[blockX() * 256 + threadX()] = tile[255 - threadX()];
}

extern "C" __global__ void ldsWide(const Float4 *in, Float4 *out) {
  __shared__ Float4 tile[64];
  tile[threadX()] = in[threadX()];
  syncThreads();
  out[threadX()] = tile[63 - threadX()];
}

extern "C" __global__ void ldsBytes(const char *in, char *out) {
  __shared__ char tile[64];
  tile[threadX()] = in[threadX()];
  syncThreads();
  out[threadX()] = tile[63 - threadX()];
}

extern "C" __global__ void dynamicLds(int *out) {
  dynamicTile[threadX()] = 1;
  syncThreads();
  out[threadX()] = dynamicTile[63 - threadX()];
}

// The compiler cannot know which memory this is.
extern "C" __global__ void flat(int **other, int *out) {
  __shared__ int tile[256];
  int *p = threadX() & 1 ? tile : *other;
  p[threadX()] = 1;
  syncThreads();
  out[threadX()] = p[255 - threadX()];
}

extern "C" __global__ void atomics(unsigned *out) {
  __shared__ unsigned bins[256];
  bins[threadX()] = 0;
  syncThreads();
  __scoped_atomic_fetch_add(&bins[threadX() & 15], 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  __scoped_atomic_fetch_add(&out[threadX() & 15], 1u, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
  syncThreads();
  out[64 + threadX()] = bins[threadX()];
}

extern "C" __global__ void exchange(unsigned *out) {
  unsigned expected = threadX();
  __scoped_atomic_compare_exchange_n(&out[threadX() & 15], &expected, 1u, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED,
                                     __MEMORY_SCOPE_DEVICE);
  out[64 + threadX()] = expected;
}

extern "C" __global__ void globalOnly(const Float4 *in, Float4 *out) { out[threadX()] = in[threadX()]; }

extern "C" __global__ void range(const int *in, int *out, int n) {
  __shared__ int tile[256];
  if (threadX() == 0)
    __builtin_memcpy(tile, in, unsigned(n));
  syncThreads();
  out[threadX()] = tile[threadX()];
}

extern "C" __global__ void barriers(int *out) {
  __shared__ int tile[64];
  tile[threadX()] = 1;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
#ifdef __GFX12__
  __builtin_amdgcn_s_barrier_signal(-1);
  int independent = int(threadX()) * 3;
  __builtin_amdgcn_s_barrier_wait(-1);
#else
  int independent = 3;
  __builtin_amdgcn_s_barrier();
#endif
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[threadX()] = tile[63 - threadX()] + independent;
}
