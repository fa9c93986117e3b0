// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// s_barrier written as such counts waves, wherever they are: producers and consumers meet at different ones, and waves that
// have ended do not count.
// RUN: %clean --seeds=2 %s
#include "twin.h"

constexpr int kGroups = 2, kSize = 128, kRounds = 4;

__device__ void meet() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

__global__ void pipeline(const int *in, int *out) {
  __shared__ int tile[64];
  int t = threadIdx.x;
  const int *mine = in + blockIdx.x * kSize;
  if (t < 64) { // producers
    for (int k = 0; k < kRounds; ++k) {
      tile[t] = mine[t] * k;
      meet();
      meet();
    }
    return;
  }
  int sum = 0;
  for (int k = 0; k < kRounds; ++k) { // consumers
    meet();
    sum += tile[127 - t];
    meet();
  }
  out[blockIdx.x * kSize + t] = sum;
  meet(); // alone
  if (t % 2 == 0)
    meet(); // a wave arrives as a whole
  out[blockIdx.x * kSize + t] += 1;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kGroups * kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  pipeline<<<kGroups, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kGroups * kSize), [](size_t i) {
    int t = int(i % kSize), group = int(i / kSize);
    return t < 64 ? 0 : (1000 + group * kSize + 127 - t) * 6 + 1;
  });
}
