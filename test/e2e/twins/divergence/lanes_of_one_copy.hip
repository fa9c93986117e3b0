// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All lanes copy a structure of their own to one place in LDS, by memcpy.
// RUN: %twin --kind=lane-conflict --seeds=2 %s
#include "twin.h"

constexpr int kSize = 32;

struct Setting {
  int values[40];
};

__global__ void choose(const Setting *in, int *out) {
  __shared__ Setting chosen;
  const int t = threadIdx.x;
  if (!twin::kFixed || t == 7)
    __builtin_memcpy(&chosen, &in[t], sizeof chosen); // RACE-A RACE-B
  __syncthreads();
  out[t] = chosen.values[t];
}

int main() {
  Setting *in = nullptr;
  twin::must(hipMalloc(&in, kSize * sizeof(Setting)), "hipMalloc");
  const std::vector<int> numbers = twin::counting<int>(kSize * 40);
  twin::must(hipMemcpy(in, numbers.data(), kSize * sizeof(Setting), hipMemcpyHostToDevice), "hipMemcpy");
  int *out = twin::onDevice(std::vector<int>(kSize));
  choose<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) { return int(1000 + 7 * 40 + i); });
}
