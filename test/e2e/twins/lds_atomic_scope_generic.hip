// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same through a pointer of which only its value says that it is LDS.
// RUN: %twin --kind=scope-too-small --hooks=native,device --fix=__HIP_MEMORY_SCOPE_WORKGROUP %s
#include "twin.h"

constexpr int kThreads = 256;
#ifdef FIXED
#define SCOPE __HIP_MEMORY_SCOPE_WORKGROUP
#else
#define SCOPE __HIP_MEMORY_SCOPE_WAVEFRONT
#endif

__global__ void count(int *out, int *scratch, int lds) {
  __shared__ int total;
  if (threadIdx.x == 0)
    total = 0;
  __syncthreads();
  int *where = lds ? &total : scratch + threadIdx.x;
  __hip_atomic_fetch_add(where, 1, __ATOMIC_RELAXED, SCOPE); // RACE-A RACE-B
  __syncthreads();
  if (threadIdx.x == 0)
    *out = total;
}

int main() {
  int *out = twin::onDevice(std::vector<int>(1)), *scratch = twin::onDevice(std::vector<int>(kThreads));
  count<<<1, kThreads>>>(out, scratch, 1);
  return twin::compare(twin::fromDevice(out, 1), [](size_t) { return kThreads; });
}
