// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies from global memory to LDS that go on while the wave does, and waits for them. The immediates of s_waitcnt are
// good for gfx9 and gfx10.
#ifndef WAVESAN_TEST_E2E_ASYNC_H
#define WAVESAN_TEST_E2E_ASYNC_H

#include "twin.h"

#define WAIT_VMCNT(n) __builtin_amdgcn_s_waitcnt(0x3f70 | (n))
#define WAIT_LGKMCNT0() __builtin_amdgcn_s_waitcnt(0xc07f)
#define BARE_BARRIER() asm volatile("s_barrier" ::: "memory")

/// Lane i copies *in to the i-th element behind `to`, which is the same in all lanes.
__device__ __forceinline__ void copyAsync(const int *in, int *to) {
  __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)in,
                                   (__attribute__((address_space(3))) void *)to, 4, 0, 0);
}

template <class T> __device__ __forceinline__ unsigned ldsOffset(const T *p) {
  return (unsigned)(size_t)(__attribute__((address_space(3))) const T *)p;
}
__device__ __forceinline__ int waveStart() { return threadIdx.x / warpSize * warpSize; }

#endif // WAVESAN_TEST_E2E_ASYNC_H
