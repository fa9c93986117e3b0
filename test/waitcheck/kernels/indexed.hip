// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays in registers, whose elements an index chooses (v_movrel*, s_set_gpr_idx_*), with loads under way around it.
#include "device.h"

typedef float float16 __attribute__((ext_vector_type(16)));
typedef int int8v __attribute__((ext_vector_type(8)));

__global__ void readOne(const float16 *in, const float *more, float *out, int index, int other) {
  const int i = BID * 64 + TID;
  float16 a = in[i];
  const float x = more[i], y = more[i + 1000];
  const float first = a[index & 15];
  const float z = more[i + 2000];
  const float second = a[other & 15];
  out[i] = first * x + second * y + z;
}

__global__ void writeOne(const float16 *in, const float *more, float16 *out, int index) {
  const int i = BID * 64 + TID;
  float16 a = in[i];
  const float x = more[i], y = more[i + 1000];
  a[index & 15] = x;
  a[(index + 3) & 15] += y;
  out[i] = a;
}

__global__ void perLane(const int8v *in, const int *where, int *out) {
  const int i = BID * 64 + TID;
  int8v a = in[i];
  int sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += a[where[i + k] & 7] * where[i + 7 * k];
  out[i] = sum;
}
