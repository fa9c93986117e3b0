// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers in branches and loops that the whole workgroup takes alike; unrolled, peeled and left by `continue`; lanes that
// write the same value; workgroups that end before their first barrier; work-items that end behind their last one.
// RUN: %clean --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 6, kSize = 128;

__device__ int total(int *tile, int t) {
  for (int width = kSize / 2; width > 0; width /= 2) {
    if (t < width)
      tile[t] += tile[t + width];
    __syncthreads();
  }
  int sum = tile[0];
  __syncthreads();
  return sum;
}

__global__ void uniform(const int *in, int *out) {
  __shared__ int tile[kSize], flag;
  int t = threadIdx.x, i = blockIdx.x * kSize + t;
  if (blockIdx.x == 5) {
    out[i] = -1;
    return;
  }
  int sum = 0;
  if (blockIdx.x % 2) {
    tile[t] = in[i];
    __syncthreads();
    sum = total(tile, t);
  } else {
    tile[t] = 1;
    __syncthreads();
    sum = total(tile, t);
  }
#pragma unroll
  for (int k = 0; k < 5; ++k) {
    tile[t] = k;
    __syncthreads();
    sum += tile[kSize - 1 - t];
    __syncthreads();
  }
  for (unsigned k = 0; k < blockIdx.x + 2; ++k) {
    __syncthreads();
    if ((t + k) % 3 == 0)
      continue;
    tile[t] += 1;
    if ((t + k) % 3 == 1) {
      sum -= 1;
      continue;
    }
    sum += 1;
  }
  flag = 7;
  __syncthreads();
  sum += flag;
  if (t >= 100)
    sum += 1000;
  if (t % 2 == 0) {
    out[i] = sum;
    return;
  }
  out[i] = sum + 1;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  uniform<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) {
    int t = int(i % kSize), group = int(i / kSize), sum = 0;
    if (group == 5)
      return -1;
    for (int k = 0; k < kSize; ++k)
      sum += group % 2 ? 1000 + group * kSize + k : 1;
    sum += 10;
    for (int k = 0; k < group + 2; ++k)
      sum += (t + k) % 3 == 0 ? 0 : (t + k) % 3 == 1 ? -1 : 1;
    return sum + 7 + (t >= 100 ? 1000 : 0) + t % 2;
  });
}
