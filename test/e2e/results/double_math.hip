// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Double precision: Simpson's rule for exp(-x) sqrt(x) + fma in each work-item, tree reduction in LDS, divisions and rounding.
// Sines of large arguments.
// RUN: %clean --kernels 2 %s
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

__global__ void sines(const double *x, double *out) { out[threadIdx.x] = sin(x[threadIdx.x]); }

int wrongSines() {
  std::vector<double> x(64);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = std::ldexp(1.0 + double(i) / 64, int(i) * 16);
  double *out = twin::onDevice(std::vector<double>(x.size()));
  sines<<<1, 64>>>(twin::onDevice(x), out);
  const std::vector<double> got = twin::fromDevice(out, x.size());
  int wrong = 0;
  for (size_t i = 0; i < x.size(); ++i)
    wrong += !(std::fabs(got[i] - std::sin(x[i])) < 4e-16);
  return wrong;
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
  return twin::verdict(wrongSines() + !(std::fabs(got - expected) < 1e-11 * expected)); // the order of additions differs
}
