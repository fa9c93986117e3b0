// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of the benchmarks, with C names.
#include <hip/hip_runtime.h>

constexpr int kTile = 16;

extern "C" __global__ void matrix_product(const float *a, const float *b, float *c, int n) {
  __shared__ float as[kTile][kTile], bs[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n / kTile; ++t) {
    as[threadIdx.y][threadIdx.x] = a[row * n + t * kTile + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t * kTile + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k)
      sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void reduction(const float *in, float *out) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  for (int d = 128; d > 0; d /= 2) {
    __syncthreads();
    if (t < d)
      s[t] += s[t + d];
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

extern "C" __global__ void stencil(const float *in, float *out, unsigned n) {
  const unsigned x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1)
    return;
  const float *at = in + size_t(y) * n + x;
  out[size_t(y) * n + x] = (at[0] + at[-1] + at[1] + at[-int(n)] + at[n]) * 0.2f;
}

extern "C" __global__ void histogram(const unsigned *in, unsigned *out, int perThread) {
  __shared__ unsigned bins[256];
  const int t = threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  for (int i = 0; i < perThread; ++i)
    atomicAdd(&bins[in[(blockIdx.x * perThread + i) * 256 + t] & 255], 1u);
  __syncthreads();
  atomicAdd(&out[t], bins[t]);
}

// What the engine executes in a second. The clock of the CPU agent counts the operations of a workgroup's waves; one
// wave for each workgroup, and loops so long that the steps in which it counts do not matter.

extern "C" __global__ void wave_alu(unsigned *sink, unsigned long long *operations, int rounds) {
  unsigned x = threadIdx.x, y = 1;
  float f = x;
  const unsigned long long begin = clock64();
  for (int i = 0; i < rounds; ++i) {
    x = x * 1664525u + 1013904223u;
    y ^= x >> 7;
    f = fmaf(f, 0.5f, 1.0f) + y;
  }
  const unsigned long long end = clock64();
  sink[blockIdx.x * 64 + threadIdx.x] = y + unsigned(f);
  operations[blockIdx.x] = end - begin;
}

extern "C" __global__ void wave_lds(unsigned *sink, unsigned long long *operations, int rounds) {
  __shared__ unsigned s[128];
  const unsigned t = threadIdx.x;
  s[t] = t;
  s[t + 64] = 0;
  unsigned v = 0;
  const unsigned long long begin = clock64();
  for (int i = 0; i < rounds; ++i) {
    v += s[t ^ (i & 63)];
    s[t + 64] = v;
  }
  const unsigned long long end = clock64();
  sink[blockIdx.x * 64 + t] = v;
  operations[blockIdx.x] = end - begin;
}

extern "C" __global__ void wave_global(unsigned *sink, unsigned long long *operations, int rounds) {
  unsigned *mine = sink + blockIdx.x * 64 * 64 + threadIdx.x;
  unsigned v = 0;
  const unsigned long long begin = clock64();
  for (int i = 0; i < rounds; ++i) {
    v += mine[(i & 31) * 64];
    mine[(32 + (i & 31)) * 64] = v;
  }
  const unsigned long long end = clock64();
  operations[blockIdx.x] = end - begin;
}

extern "C" __global__ void wave_cross_lane(unsigned *sink, unsigned long long *operations, int rounds) {
  unsigned v = threadIdx.x;
  const unsigned long long begin = clock64();
  for (int i = 0; i < rounds; ++i) {
    v += __shfl_xor(v, i & 63);
    v ^= unsigned(__ballot(v & 1));
  }
  const unsigned long long end = clock64();
  sink[blockIdx.x * 64 + threadIdx.x] = v;
  operations[blockIdx.x] = end - begin;
}
