// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes fill rows of different lengths with different values, by memset: rows that are too long run into the next one.
// RUN: %twin --kind=lane-conflict --seeds=2 %s
#include "twin.h"

constexpr int kSize = 32, kRow = 64;

__global__ void fill(char *out, const int *lengths) {
  const int t = threadIdx.x;
  __builtin_memset(out + t * kRow, t + 1, lengths[t]); // RACE-A RACE-B
}

int main() {
  std::vector<int> lengths(kSize, kRow);
  if (!twin::kFixed)
    lengths[20] = kRow + 4;
  char *out = twin::onDevice(std::vector<char>(kSize * kRow + kRow));
  fill<<<1, kSize>>>(out, twin::onDevice(lengths));
  return twin::compare(twin::fromDevice(out, kSize * kRow), [](size_t i) { return char(i / kRow + 1); });
}
