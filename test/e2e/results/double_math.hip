// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Double precision: Simpson's rule for exp(-x) sqrt(x) + fma in each work-item, tree reduction in LDS, divisions and rounding.
// RUN: %clean %s
#include "twin.h"

#include <cmath>

constexpr int kThreads = 128, kGroups = 4, kIntervals = 1 << 12;

__host__ __device__ double term(double x) { return exp(-x) * sqrt(x) + fma(x, x, 1.0 / (x + 3.0)) + floor(x * 8.0) * 0.125; }

__global__ void integrate(double *out, double upper) {
  __shared__ double partial[kThreads];
  int t = threadIdx.x;
  double sum = 0, h = upper / kIntervals;
  for (int i = blockIdx.x * kThreads + t; i < kIntervals; i += kThreads * kGroups)
    sum += (term(i * h) + 4 * term((i + 0.5) * h) + term((i + 1) * h)) * h / 6;
  partial[t] = sum;
  for (int d = kThreads / 2; d > 0; d /= 2) {
    __syncthreads();
    if (t < d)
      partial[t] += partial[t + d];
  }
  if (t == 0)
    out[blockIdx.x] = partial[0];
}

int main() {
  double *out = twin::onDevice(std::vector<double>(kGroups));
  const double upper = 5, h = upper / kIntervals;
  integrate<<<kGroups, kThreads>>>(out, upper);
  double expected = 0, got = 0;
  for (int i = 0; i < kIntervals; ++i)
    expected += (term(i * h) + 4 * term((i + 0.5) * h) + term((i + 1) * h)) * h / 6;
  for (double part : twin::fromDevice(out, kGroups))
    got += part;
  std::printf("integral %.15g, expected %.15g\n", got, expected);
  return twin::verdict(!(std::fabs(got - expected) < 1e-11 * expected)); // the order of additions differs
}
