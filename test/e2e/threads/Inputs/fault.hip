// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "twin.h"

#include <cstring>
#include <sys/mman.h>

// Workgroups from number 11 on store where they may not.
__global__ void fault(unsigned *good, char *bad) {
  unsigned sum = 0;
  for (unsigned k = 0; k < 200; ++k)
    good[blockIdx.x * blockDim.x + threadIdx.x] = sum = sum * 3 + k;
  if (blockIdx.x >= 11)
    *reinterpret_cast<unsigned *>(bad + blockIdx.x * 4) = sum;
}

int main(int, char **argv) {
  unsigned *good = nullptr;
  twin::must(hipMalloc(&good, 4096 * 64 * sizeof(unsigned)), "hipMalloc");
  char *bad = nullptr;
  if (std::strcmp(argv[1], "unmapped") == 0)
    bad = static_cast<char *>(mmap(nullptr, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  fault<<<4096, 64>>>(good, bad);
  return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}
