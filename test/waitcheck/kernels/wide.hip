// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// More than 256 vector registers at a time (gfx1250): every kind of instruction gets some of those beyond v255.
#include "device.h"

typedef float f16 __attribute__((ext_vector_type(16)));
#define ONE_WAVE __attribute__((amdgpu_flat_work_group_size(32, 32), amdgpu_waves_per_eu(1, 1)))

__global__ ONE_WAVE void manyGlobal(const f16 *a, f16 *o, int n) {
  f16 x[24];
#pragma unroll
  for (int i = 0; i < 24; ++i)
    x[i] = a[TID + i * 64];
  for (int j = 0; j < n; ++j)
#pragma unroll
    for (int i = 0; i < 24; ++i)
      x[i] = x[i] * x[(i + 7) % 24] + (float)j;
#pragma unroll
  for (int i = 0; i < 24; ++i)
    o[TID + i * 64] = x[i];
}

__global__ ONE_WAVE void manyLds(const f16 *a, f16 *o, int *sum, int n) {
  __shared__ f16 tile[64];
  f16 x[20];
#pragma unroll
  for (int i = 0; i < 20; ++i)
    x[i] = a[TID + i * 64];
  int count = 0;
  for (int j = 0; j < n; ++j) {
    tile[TID] = x[j & 1];
    barrier();
#pragma unroll
    for (int i = 0; i < 20; ++i) {
      x[i] += tile[(TID + i) & 63];
      count += x[i][3] > 1.0f ? i : 0;
      count ^= __builtin_amdgcn_ds_bpermute(count, i);
    }
    barrier();
    __hip_atomic_fetch_add(sum + j, count, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
#pragma unroll
  for (int i = 0; i < 20; ++i)
    o[TID + i * 64] = x[i];
}

__device__ __attribute__((noinline)) float called(float a, float *p) { return a * p[TID] + 1.0f; }

__global__ ONE_WAVE void manyAcrossACall(const f16 *a, f16 *o, float *p, int n) {
  f16 x[18];
#pragma unroll
  for (int i = 0; i < 18; ++i)
    x[i] = a[TID + i * 64];
  float s = 0;
  for (int j = 0; j < n; ++j) {
    s = called(s, p);
#pragma unroll
    for (int i = 0; i < 18; ++i)
      x[i] = x[i] * s + x[(i + 1) % 18];
  }
#pragma unroll
  for (int i = 0; i < 18; ++i)
    o[TID + i * 64] = x[i];
}

// Scalar arithmetic with constants (v_fmamk, v_fmaak, pairs), conversions, transcendentals.
__global__ ONE_WAVE void manyScalars(const float *a, float *o, int n) {
  float x[320];
#pragma unroll
  for (int i = 0; i < 320; ++i)
    x[i] = a[TID + i * 64];
  for (int j = 0; j < n; ++j)
#pragma unroll
    for (int i = 0; i < 320; ++i) {
      const float y = x[(i + 7) % 320];
      switch (i % 5) {
      case 0:
        x[i] = x[i] * 2.5f + y;
        break;
      case 1:
        x[i] = x[i] * y + 3.25f;
        break;
      case 2:
        x[i] = __builtin_amdgcn_exp2f(x[i]) - y;
        break;
      case 3:
        x[i] = (float)(int)(x[i] * y);
        break;
      case 4:
        x[i] = x[i] > y ? x[i] : y * y;
        break;
      }
    }
#pragma unroll
  for (int i = 0; i < 320; ++i)
    o[TID + i * 64] = x[i];
}

typedef _Float16 h16 __attribute__((ext_vector_type(16)));
typedef float f8 __attribute__((ext_vector_type(8)));
__global__ ONE_WAVE void manyMatrices(const h16 *a, f8 *o, int n) {
  f8 c[40];
#pragma unroll
  for (int i = 0; i < 40; ++i)
    c[i] = o[TID + i * 64];
  for (int j = 0; j < n; ++j) {
    const h16 x = a[TID + j * 64], y = a[TID + j * 64 + 32];
#pragma unroll
    for (int i = 0; i < 40; ++i)
      c[i] = __builtin_amdgcn_wmma_f32_16x16x32_f16(0, i & 1 ? x : y, 0, i & 2 ? x : y, (short)0, c[i], false, false);
  }
#pragma unroll
  for (int i = 0; i < 40; ++i)
    o[TID + i * 64] = c[i];
}
