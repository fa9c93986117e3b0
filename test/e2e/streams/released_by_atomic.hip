// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A running kernel hands data to one of another stream through a flag.
// RUN: %streams %s
#include "streams.h"

#ifdef FIXED
constexpr int kRelease = __ATOMIC_RELEASE, kAcquire = __ATOMIC_ACQUIRE;
#else
constexpr int kRelease = __ATOMIC_RELAXED, kAcquire = __ATOMIC_RELAXED;
#endif

__global__ void give(int *data, int *flag) {
  data[threadIdx.x] = threadIdx.x + 10;
  __hip_atomic_store(flag, 1, kRelease, __HIP_MEMORY_SCOPE_AGENT);
}
__global__ void take(int *data, int *flag) {
  while (__hip_atomic_load(flag, kAcquire, __HIP_MEMORY_SCOPE_AGENT) == 0)
    __builtin_amdgcn_s_sleep(8);
  data[threadIdx.x] += 1;
}

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  int *data = twin::buffer(), *flag = nullptr;
  twin::must(hipMalloc(&flag, 4), "hipMalloc");
  twin::must(hipMemset(flag, 0, 4), "hipMemset");
  give<<<1, 64, 0, first>>>(data, flag);  // RACE-A
  take<<<1, 64, 0, second>>>(data, flag); // RACE-B
  return twin::compare(twin::fromDevice(data, 64), [](size_t i) { return int(i) + 11; });
}
