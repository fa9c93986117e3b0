// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One pointer that is LDS in some lanes' calls and global memory in others': only the LDS side is shared.
// RUN: %twin %s
#include "twin.h"

constexpr int kSize = 128;

__global__ void choose(const int *in, int *scratch, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x;
  scratch[t] = -1;
  int *where = in[t] % 2 ? &scratch[t] : &tile[t];
  *where = in[t]; // RACE-A
  BARRIER_IF_FIXED();
  int partner = (t + 64) % kSize;
  out[t] = in[partner] % 2 ? 7 : tile[partner]; // RACE-B
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  int *scratch = twin::onDevice(std::vector<int>(kSize));
  choose<<<1, kSize>>>(in, scratch, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) {
    int partner = int(1000 + (i + 64) % kSize);
    return partner % 2 ? 7 : partner;
  });
}
