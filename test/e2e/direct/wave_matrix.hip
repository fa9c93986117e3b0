// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles of 16 x 16 through LDS into the matrix instructions of gfx11 and gfx12: each wave stages one tile, all waves
// multiply both.
// RUN: %direct --targets=gfx1100,gfx1201 %s
#include "direct.h"

constexpr int kWaves = 2, kThreads = 32 * kWaves;

#ifdef __HIP__
using Half = _Float16;
using Sums = float __attribute__((ext_vector_type(8)));
#ifdef __GFX11__
using Row = Half __attribute__((ext_vector_type(16)));
__device__ inline Sums multiply(Row a, Row b, Sums c) { return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c); }
#else
using Row = Half __attribute__((ext_vector_type(8)));
__device__ inline Sums multiply(Row a, Row b, Sums c) {
  return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c);
}
#endif

/// The elements of row (or column) lane % 16 that a lane holds.
__device__ inline int placeOf(int e, int lane) {
#ifdef __GFX11__
  return e;
#else
  return e / 4 * 8 + lane / 16 * 4 + e % 4;
#endif
}

extern "C" __global__ void kernel(const int *in, int *out) {
  __shared__ Half tile[2][16][16]; // A by rows, B by columns
  const int t = direct::thread(), wave = t / 32, lane = t % 32;
  for (int e = lane; e < 256; e += 32)
    tile[wave][e / 16][e % 16] = Half((in[e] - 1000 + 3 * wave) % 7); // RACE-A
  direct::syncthreadsIfFixed();
  Row a, b;
#pragma unroll
  for (int e = 0; e < int(sizeof(Row) / 2); ++e)
    a[e] = tile[0][lane % 16][placeOf(e, lane)], b[e] = tile[1][lane % 16][placeOf(e, lane)]; // RACE-B
  Sums sums = {};
  sums = multiply(a, b, sums);
  if (wave == 0)
    for (int k = 0; k < 8; ++k) {
#ifdef __GFX11__
      const int row = 2 * k + lane / 16;
#else
      const int row = 8 * (lane / 16) + k;
#endif
      out[row * 16 + lane % 16] = int(sums[k]);
    }
}
#else
int main(int argc, char **argv) {
  return direct::compare(direct::run(argc, argv, 1, kThreads, 256), [](int i) {
    int sum = 0;
    for (int k = 0; k < 16; ++k)
      sum += (i / 16 * 16 + k) % 7 * ((i % 16 * 16 + k + 3) % 7);
    return sum;
  });
}
#endif
