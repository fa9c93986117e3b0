// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shuffles: sums within groups of 32 lanes by xor, prefix sums by up, a rotation by index, and the neighbour by down.
// RUN: %clean --hooks=native %s
#include "twin.h"

constexpr int kThreads = 192, kWidth = 32;

__global__ void shuffles(const int *in, int *sums, int *prefixes, int *rotated, int *next) {
  int t = threadIdx.x, lane = t % kWidth, value = in[t];
  int sum = value;
  for (int mask = 1; mask < kWidth; mask *= 2)
    sum += __shfl_xor(sum, mask, kWidth);
  int prefix = value;
  for (int distance = 1; distance < kWidth; distance *= 2) {
    int below = __shfl_up(prefix, distance, kWidth);
    if (lane >= distance)
      prefix += below;
  }
  sums[t] = sum;
  prefixes[t] = prefix;
  rotated[t] = __shfl(value, (lane + 5) % kWidth, kWidth);
  next[t] = __shfl_down(value, 1, kWidth);
}

int main() {
  std::vector<int> numbers = twin::counting<int>(kThreads);
  int *in = twin::onDevice(numbers), *out[4];
  for (int *&o : out)
    o = twin::onDevice(std::vector<int>(kThreads));
  shuffles<<<1, kThreads>>>(in, out[0], out[1], out[2], out[3]);
  size_t wrong = 0;
  const std::vector<int> sums = twin::fromDevice(out[0], kThreads), prefixes = twin::fromDevice(out[1], kThreads),
                         rotated = twin::fromDevice(out[2], kThreads), next = twin::fromDevice(out[3], kThreads);
  for (int t = 0; t < kThreads; ++t) {
    const int first = t / kWidth * kWidth, lane = t % kWidth;
    int sum = 0, prefix = 0;
    for (int l = 0; l < kWidth; ++l) {
      sum += numbers[first + l];
      prefix += l <= lane ? numbers[first + l] : 0;
    }
    wrong += sums[t] != sum || prefixes[t] != prefix || rotated[t] != numbers[first + (lane + 5) % kWidth] ||
             next[t] != numbers[lane == kWidth - 1 ? t : t + 1];
  }
  return twin::verdict(wrong);
}
