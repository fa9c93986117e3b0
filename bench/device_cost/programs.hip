// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device side of the twelve programs, as far as it needs no device library: printf's is its table in constant memory.
#include "words.h"

extern "C" __shared__ int dynamicTile[];

extern "C" __global__ void reduction(const int *in, int *out, int n) {
  __shared__ int partial[256];
  int sum = 0;
  for (int i = block() * 256 + thread(); i < n; i += 256 * 64)
    sum += in[i];
  partial[thread()] = sum;
  barrier();
  for (unsigned half = 128; half > 0; half /= 2) {
    if (thread() < half)
      partial[thread()] += partial[thread() + half];
    barrier();
  }
  if (thread() == 0)
    out[block()] = partial[0];
}

extern "C" __global__ void transpose(const float *in, float *out, int width) {
  __shared__ float tile[32][33];
  const unsigned x = thread() & 31, y = thread() >> 5;
  for (unsigned j = 0; j < 32; j += 8)
    tile[y + j][x] = in[(y + j) * width + x];
  barrier();
  for (unsigned j = 0; j < 32; j += 8)
    out[(y + j) * width + x] = tile[x][y + j];
}

extern "C" __global__ void matrix_product(const float *a, const float *b, float *c, int n) {
  __shared__ float tileA[16][16], tileB[16][16];
  const unsigned x = thread() & 15, y = thread() >> 4;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    tileA[y][x] = a[y * n + k + x];
    tileB[y][x] = b[(k + y) * n + x];
    barrier();
    for (int i = 0; i < 16; ++i)
      sum += tileA[y][i] * tileB[i][x];
    barrier();
  }
  c[y * n + x] = sum;
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *out, int n) {
  __shared__ unsigned bins[256];
  bins[thread()] = 0;
  barrier();
  for (int i = thread(); i < n; i += 256)
    __scoped_atomic_fetch_add(&bins[in[i]], 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  barrier();
  __scoped_atomic_fetch_add(&out[thread()], bins[thread()], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

extern "C" __global__ void scan(const int *in, int *out) {
  __shared__ int buffer[2][256];
  unsigned from = 0;
  buffer[0][thread()] = in[thread()];
  barrier();
  for (unsigned step = 1; step < 256; step *= 2) {
    buffer[1 - from][thread()] =
        buffer[from][thread()] + (thread() >= step ? buffer[from][thread() - step] : 0);
    from = 1 - from;
    barrier();
  }
  out[thread()] = buffer[from][thread()];
}

extern "C" __global__ void stencil(const float *in, float *out) {
  __shared__ float line[256 + 8];
  line[thread() + 4] = in[block() * 256 + thread() + 4];
  if (thread() < 4) {
    line[thread()] = in[block() * 256 + thread()];
    line[thread() + 260] = in[block() * 256 + thread() + 260];
  }
  barrier();
  float sum = 0;
  for (int i = 0; i < 9; ++i)
    sum += line[thread() + i] * (0.1f * float(i));
  out[block() * 256 + thread()] = sum;
}

extern "C" __global__ void shuffles(const int *in, int *out) {
  int v = in[thread()];
  for (int step = 16; step > 0; step /= 2)
    v += __builtin_amdgcn_ds_bpermute(int(((thread() ^ unsigned(step)) & 63) * 4), v);
  out[thread()] = v;
}

extern "C" __global__ void ballots(const int *in, unsigned long long *out) {
  out[thread()] = __builtin_popcountll(__builtin_amdgcn_ballot_w64(in[thread()] > 0));
}

extern "C" __global__ void atomics(unsigned *out, const unsigned *in) {
  __shared__ unsigned last;
  if (thread() == 0)
    last = __scoped_atomic_fetch_add(&out[0], 1u, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
  barrier();
  if (last == 63)
    __scoped_atomic_fetch_max(&out[1], in[thread()], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

extern "C" __global__ void double_math(const double *in, double *out) {
  __shared__ double values[256];
  values[thread()] = __builtin_fma(in[thread()], 1.5, 0.25);
  barrier();
  double x = values[255 - thread()];
  for (int i = 0; i < 8; ++i)
    x = __builtin_fma(x, x, 1.0 / 3.0);
  out[thread()] = x;
}

__constant__ int table[16] = {1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
extern "C" __global__ void constant_table(int *out) { out[thread()] = table[thread() & 15]; }

extern "C" __global__ void dynamic_lds(const int *in, int *out, int n) {
  for (int i = thread(); i < n; i += 256)
    dynamicTile[i] = in[i];
  barrier();
  for (int i = thread(); i < n; i += 256)
    out[i] = dynamicTile[n - 1 - i];
}
