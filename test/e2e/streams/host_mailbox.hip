// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A running kernel hands data to the host through a flag, released for the system or not.
// RUN: %streams --cc=--check-host --kind=host-race --streams=1  %s
#include "streams.h"

struct Box {
  int flag, stop, data[64];
};
__global__ void talk(Box *box) {
  const int t = threadIdx.x;
  box->data[t] = 40 + t;
  __syncthreads();
  if (t == 0) {
    __hip_atomic_store(&box->flag, 1, twin::kFixed ? __ATOMIC_RELEASE : __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    while (!__hip_atomic_load(&box->stop, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM))
      __builtin_amdgcn_s_sleep(8);
  }
}

int main() {
  const hipStream_t stream = twin::stream();
  Box *host = nullptr, *device = nullptr;
  twin::must(hipHostMalloc(reinterpret_cast<void **>(&host), sizeof(Box), hipHostMallocMapped | hipHostMallocCoherent),
             "hipHostMalloc");
  twin::must(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), host, 0), "hipHostGetDevicePointer");
  *host = Box{};
  talk<<<1, 64, 0, stream>>>(device); // RACE-A
  while (!__atomic_load_n(&host->flag, __ATOMIC_ACQUIRE)) {
  }
  size_t wrong = 0;
  for (int i = 0; i < 64; ++i)
    wrong += host->data[i] != 40 + i; // RACE-B
  __atomic_store_n(&host->stop, 1, __ATOMIC_RELEASE);
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  return twin::verdict(wrong);
}
