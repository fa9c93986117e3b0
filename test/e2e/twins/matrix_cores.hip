// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tile in LDS for the matrix instructions of gfx90a (the same product by hand elsewhere): no barrier in front of them.
// RUN: %twin %s
#include "twin.h"

typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float16 __attribute__((ext_vector_type(16)));

constexpr int kSize = 32, kDepth = 8, kThreads = 128;

__device__ half4 columnOf(const half4 *columns, int lane) {
  return columns[lane]; // RACE-B
}

__device__ void product(const half4 &a, const half4 *columns, float *c) {
  const int t = threadIdx.x % 64;
#ifdef __gfx90a__
  const float16 sum = __builtin_amdgcn_mfma_f32_32x32x8f16(a, columnOf(columns, t), float16{}, 0, 0, 0);
  for (int v = 0; v < 16; ++v)
    c[(v / 4 * 8 + t / 32 * 4 + v % 4) * kSize + t % 32] = sum[v];
#else
  // Lane t of the matrix instruction holds row t % 32 of A, four products from 4 * (t / 32) on.
#pragma unroll 1
  for (int column = 0; column < kSize; ++column) {
    const half4 b = columnOf(columns, t / 32 * 32 + column);
    float sum = 0;
    for (int k = 0; k < 4; ++k)
      sum += float(a[k]) * float(b[k]);
    atomicAdd(&c[t % 32 * kSize + column], sum);
  }
#endif
}

__global__ void multiply(const half4 *a, const half4 *b, float *c) {
  __shared__ half4 columns[64];
  const int t = threadIdx.x;
  if (t >= 64)
    columns[t - 64] = b[t - 64]; // RACE-A
  BARRIER_IF_FIXED();
  if (t < 64)
    product(a[t], columns, c);
}

int main() {
  const auto value = [](int matrix, int row, int k) { return float((row * (matrix + 2) + k * 5) % 9 - 4); };
  std::vector<half4> a(64), b(64);
  for (int lane = 0; lane < 64; ++lane)
    for (int k = 0; k < 4; ++k) {
      a[lane][k] = _Float16(value(0, lane % 32, lane / 32 * 4 + k));
      b[lane][k] = _Float16(value(1, lane % 32, lane / 32 * 4 + k));
    }
  float *c = twin::onDevice(std::vector<float>(kSize * kSize));
  multiply<<<1, kThreads>>>(twin::onDevice(a), twin::onDevice(b), c);
  return twin::compare(twin::fromDevice(c, kSize * kSize), [&](size_t i) {
    float sum = 0;
    for (int k = 0; k < kDepth; ++k)
      sum += value(0, int(i) / kSize, k) * value(1, int(i) % kSize, k);
    return sum;
  });
}
