// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every wave writes its own byte of the same dwords: clean. Sharing a byte is not.
// RUN: %twin %s
#include "twin.h"

constexpr int kThreads = 256, kDwords = 64;

__global__ void pack(unsigned *out) {
  __shared__ unsigned char bytes[4 * kDwords];
  int t = threadIdx.x, group = t / kDwords;
  int place = twin::kFixed ? group : group & ~1;
  bytes[4 * (t % kDwords) + place] = (unsigned char)(16 * group + t % 16); // RACE-A RACE-B
  __syncthreads();
  if (t < kDwords) {
    unsigned dword = 0;
    for (int i = 0; i < 4; ++i)
      dword |= unsigned(bytes[4 * t + i]) << (8 * i);
    out[t] = dword;
  }
}

int main() {
  unsigned *out = twin::onDevice(std::vector<unsigned>(kDwords));
  pack<<<1, kThreads>>>(out);
  return twin::compare(twin::fromDevice(out, kDwords), [](size_t i) {
    unsigned dword = 0;
    for (unsigned group = 0; group < 4; ++group)
      dword |= (16 * group + unsigned(i) % 16) << (8 * group);
    return dword;
  });
}
