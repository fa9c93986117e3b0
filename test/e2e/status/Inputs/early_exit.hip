// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The second half of the workgroup leaves before the barrier; with an argument, the first half then executes a trap.
#include "twin.h"

__global__ void half(int *out, int fail) {
  __shared__ int tile[128];
  int t = threadIdx.x;
  tile[t] = t;
  if (t >= 64)
    return;
  __syncthreads();
  if (fail)
    __builtin_trap();
  out[t] = tile[t];
}

int main(int argc, char **) {
  int *out = twin::onDevice(std::vector<int>(64));
  half<<<1, 128>>>(out, argc > 1);
  return twin::compare(twin::fromDevice(out, 64), [](size_t i) { return int(i); });
}
