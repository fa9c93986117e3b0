// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device.h"

__device__ __attribute__((noinline)) float polynomial(const float *c, float x, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i)
    s = s * x + c[i];
  return s;
}

__device__ __attribute__((noinline)) int fibonacci(int n, const int *p) { return n < 2 ? p[n] : fibonacci(n - 1, p) + fibonacci(n - 2, p); }

__device__ __attribute__((noinline)) int add(int a, const int *p) { return a + p[a & 15]; }
__device__ __attribute__((noinline)) int mul(int a, const int *p) { return a * p[a & 7]; }

__device__ __attribute__((noinline)) int tail(int a, const int *p) { return a & 1 ? add(a + p[0], p) : mul(a - p[1], p); }

__global__ void direct(const float *c, float *out, int n) {
  const float a = out[TID + 1024], b = out[TID + 2048];
  const float r = polynomial(c, a, n);
  out[TID] = polynomial(c + n, r, n) + a * b;
}

__global__ void recursive(const int *p, int *out) { out[TID] = fibonacci(TID & 7, p) + p[TID]; }

__global__ void indirect(const int *p, int *out, int which) {
  int (*f)(int, const int *) = which == 0 ? add : which == 1 ? mul : tail;
  const int before = p[TID + 32];
  out[TID] = f(TID, p) + before;
}
