// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// malloc, free, new and delete in kernels: blocks are distinct, aligned to eight bytes, keep what is written by other waves and later dispatches, and can be freed elsewhere.
// RUN: %cc %s -o %t
// RUN: %run90a -- %t 2>&1 | FileCheck %s
// RUN: %run1030 -- %t 2>&1 | FileCheck %s
// CHECK-DAG: result: ok
// CHECK-DAG: 0 races
#include "twin.h"

#include <algorithm>
#include <cstdint>

struct Pair {
  int first = 3, second;
  __device__ explicit Pair(int s) : second(s) {}
};

__global__ void allocate(int **blocks, Pair **pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int *block = static_cast<int *>(malloc((i % 7 + 1) * sizeof(int)));
  for (int k = 0; block && k < i % 7 + 1; ++k)
    block[k] = i * 10 + k;
  blocks[i] = block;
  pairs[i] = i % 2 ? new Pair(i) : nullptr;
}
__global__ void sum(int **blocks, Pair **pairs, int *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, of = (i + 70) % (gridDim.x * blockDim.x);
  int total = pairs[of] ? pairs[of]->first + pairs[of]->second : 0;
  for (int k = 0; k < of % 7 + 1; ++k)
    total += blocks[of][k];
  out[i] = total;
}
__global__ void release(int **blocks, Pair **pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, of = (i + 33) % (gridDim.x * blockDim.x);
  free(blocks[of]);
  delete pairs[of];
}

int main() {
  constexpr int kCount = 256;
  size_t wrong = 0;
  int **blocks = twin::onDevice(std::vector<int *>(kCount));
  Pair **pairs = twin::onDevice(std::vector<Pair *>(kCount));
  int *out = twin::onDevice(std::vector<int>(kCount));
  for (int round = 0; round < 3; ++round) {
    allocate<<<4, 64>>>(blocks, pairs);
    std::vector<int *> addresses = twin::fromDevice(blocks, kCount);
    std::sort(addresses.begin(), addresses.end());
    for (int i = 0; i < kCount; ++i)
      wrong += !addresses[i] || reinterpret_cast<uintptr_t>(addresses[i]) % 8 || (i && addresses[i] == addresses[i - 1]);
    sum<<<4, 64>>>(blocks, pairs, out);
    const std::vector<int> sums = twin::fromDevice(out, kCount);
    for (int i = 0; i < kCount; ++i) {
      const int of = (i + 70) % kCount, n = of % 7 + 1;
      wrong += sums[i] != of * 10 * n + n * (n - 1) / 2 + (of % 2 ? 3 + of : 0);
    }
    release<<<4, 64>>>(blocks, pairs);
    twin::must(hipDeviceSynchronize(), "release");
  }
  return twin::verdict(wrong);
}
