// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels for the code generation tests: static and dynamic LDS, callees that are and are not inlined, templates,
// generic pointers, atomics, sub-dword accesses, functions that use LDS (one recursive) in several kernels.
#include "device.h"

extern "C" __shared__ int dynamicTile[];

__device__ __noinline void fill(int *where, int value) { where[threadX()] = value; }

__device__ __noinline int sum(const int *from, int n) {
  int result = 0;
  for (int i = 0; i < n; ++i)
    result += from[i];
  return result;
}

__shared__ int depths[64];
__device__ __noinline int depth(int n) {
  depths[threadX()] += n;
  dynamicTile[n] += 1;
  return n <= 1 ? 1 : n + depth(n - 1) * depth(n - 2);
}
__device__ __noinline void touch(int n) { depths[n] = 1; }

extern "C" __global__ void transpose(const float *in, float *out) {
  __shared__ float tile[256];
  tile[threadX()] = in[blockX() * 256 + threadX()];
  syncThreads();
  out[blockX() * 256 + threadX()] = tile[255 - threadX()];
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *out) {
  __shared__ unsigned bins[256];
  __shared__ unsigned char seen[256];
  bins[threadX()] = 0;
  seen[threadX()] = 0;
  syncThreads();
  unsigned char c = in[blockX() * 256 + threadX()];
  __scoped_atomic_fetch_add(&bins[c], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  seen[c] = 1;
  syncThreads();
  out[threadX()] = bins[threadX()] + seen[threadX()];
}

extern "C" __global__ void reduce(int *out, int n) {
  fill(dynamicTile, n);
  syncThreads();
  if (threadX() == 0)
    out[blockX()] = sum(dynamicTile, n) + depth(n);
}

extern "C" __global__ void zigzag(int *out, int n) {
  touch(n);
  syncThreads();
  out[n] = depth(n);
}

template <class T> __global__ void copy(const T *in, T *out) {
  __shared__ T buffer[64];
  buffer[threadX()] = in[threadX()];
  syncThreads();
  out[threadX()] = buffer[63 - threadX()];
}
template __global__ void copy<double>(const double *, double *);
template __global__ void copy<short>(const short *, short *);
