// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel that runs until the host lets it, three seconds later.
#include "twin.h"

#include <atomic>
#include <chrono>
#include <thread>

__global__ void waits(int *flag, int *out) {
  if (threadIdx.x < 64 && blockIdx.x == 1)
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0) // SPINS
      __builtin_amdgcn_s_sleep(1);
  __syncthreads(); // WAITS
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main() {
  int *flag = nullptr, *out = nullptr;
  twin::must(hipHostMalloc(reinterpret_cast<void **>(&flag), sizeof(int), hipHostMallocCoherent), "hipHostMalloc");
  twin::must(hipMalloc(&out, 3 * 256 * sizeof(int)), "hipMalloc");
  *flag = 0;
  waits<<<3, 256>>>(flag, out);
  std::this_thread::sleep_for(std::chrono::milliseconds(3500));
  __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  return twin::compare(twin::fromDevice(out, 3 * 256), [](size_t) { return 1; });
}
