// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device.h"

__global__ void stream(const float *a, const float *b, float *c, int n) {
  for (int i = BID * 256 + TID; i < n; i += 256 * 128)
    c[i] = a[i] * 3.0f + b[i];
}

__global__ void stencil(const float *in, float *out, int w, int h) {
  const int x = TID + 1, y = BID + 1;
  if (x >= w - 1 || y >= h - 1)
    return;
  const float *p = in + y * w + x;
  out[y * w + x] = p[0] * 0.5f + 0.125f * (p[-1] + p[1] + p[-w] + p[w]);
}

__global__ void halves(const short *in, short *out, const char *bytes, int n) {
  short acc[4] = {};
  for (int i = TID; i < n; i += 256)
    for (int k = 0; k < 4; ++k)
      acc[k] += in[4 * i + k] + bytes[i];
  for (int k = 0; k < 4; ++k)
    out[4 * TID + k] = acc[k];
}

typedef _Float16 half2 __attribute__((ext_vector_type(2)));
__global__ void packed(const _Float16 *in, half2 *out, int n) {
  half2 s = {0, 0};
  for (int i = TID; i < n; i += 64) {
    half2 v = {in[i], in[i + n]};
    s += v * v;
  }
  out[TID] = s;
}

__global__ void atomics(int *p, long *q, float *f, unsigned *flag) {
  const int old = __hip_atomic_fetch_add(p, 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_max(q, (long)old, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
  int expected = old;
  __hip_atomic_compare_exchange_strong(p + 1, &expected, 7, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  p[2 + TID] = expected;
  __hip_atomic_fetch_add(f, 1.5f, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0)
    __builtin_amdgcn_s_sleep(1);
  p[TID + 300] = p[TID + 600];
}

__global__ void scratch(const int *in, int *out, int n) {
  int local[64];
  for (int i = 0; i < 64; ++i)
    local[i] = in[i * 64 + TID];
  int s = 0;
  for (int i = 0; i < n; ++i)
    s += local[(i * 7 + in[i]) & 63];
  out[TID] = s;
}

struct Big {
  double m[32];
};
__global__ void registers(const Big *in, Big *out) {
  Big a = in[TID], b = in[TID + 64], c;
#pragma unroll
  for (int i = 0; i < 32; ++i)
    c.m[i] = a.m[i] * b.m[31 - i] + a.m[(i * 5) & 31];
#pragma unroll
  for (int i = 0; i < 32; ++i)
    c.m[i] += b.m[i] / a.m[i ^ 1];
  out[TID] = c;
}

__global__ void flatPointer(int *p, int which) {
  __shared__ int tile[64];
  tile[TID] = p[TID];
  barrier();
  int *q = which ? (int *)&tile[0] : p;
  q[TID ^ 1] += 3;
  barrier();
  p[TID + 64] = tile[TID];
}

__global__ void clockAndScalar(const int *in, unsigned long *out, int n) {
  const unsigned long t = __builtin_readcyclecounter();
  int s = 0;
  for (int i = 0; i < n; ++i)
    s += in[i] * in[i + BID];
  out[TID] = s + (__builtin_readcyclecounter() - t);
}
