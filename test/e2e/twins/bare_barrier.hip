// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// s_barrier alone: it brings the waves together, but says nothing about memory.
// RUN: %twin --kind=missing-fence %s
#include "twin.h"

constexpr int kSize = 128;

__global__ void mirror(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x;
  tile[t] = in[t]; // RACE-A
#ifdef FIXED
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
#endif
  __builtin_amdgcn_s_barrier();
#ifdef FIXED
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
#endif
  out[t] = tile[kSize - 1 - t]; // RACE-B
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  mirror<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) { return int(1000 + kSize - 1 - i); });
}
