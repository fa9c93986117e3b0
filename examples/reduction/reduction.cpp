// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums numbers: each workgroup adds its part in LDS, halving the active threads step by step. Between two steps every
// wave must have written its sums before another reads them. -DRACY leaves that barrier out.
#include "report.h"

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 256, kGroups = 4, kCount = kThreads * kGroups;

__global__ void reduce(const int *numbers, int *sums) {
  __shared__ int partial[kThreads];
  int thread = threadIdx.x;
  partial[thread] = numbers[blockIdx.x * kThreads + thread];
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (thread < half)
      partial[thread] += partial[thread + half];
#ifndef RACY
    __syncthreads();
#endif
  }
  if (thread == 0)
    sums[blockIdx.x] = partial[0];
}

static void check(hipError_t error, const char *what) {
  if (error == hipSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", what, hipGetErrorString(error));
  std::exit(1);
}

int main() {
  std::vector<int> numbers(kCount), sums(kGroups);
  long long expected = 0, total = 0;
  for (int i = 0; i < kCount; ++i)
    expected += numbers[i] = i % 97;
  int *in = nullptr, *out = nullptr;
  check(hipMalloc(&in, sizeof(int) * kCount), "hipMalloc");
  check(hipMalloc(&out, sizeof(int) * kGroups), "hipMalloc");
  check(hipMemcpy(in, numbers.data(), sizeof(int) * kCount, hipMemcpyHostToDevice), "hipMemcpy");
  reduce<<<kGroups, kThreads>>>(in, out);
  check(hipGetLastError(), "launch");
  check(hipMemcpy(sums.data(), out, sizeof(int) * kGroups, hipMemcpyDeviceToHost), "hipMemcpy");
  check(hipFree(in), "hipFree");
  check(hipFree(out), "hipFree");
  for (int sum : sums)
    total += sum;
  return reportSum(total, expected);
}
