// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Wave 0 waits at a barrier; wave 1 waits for what wave 0 would do behind it. Argument "global": through global memory;
// "lock": instead, waves take a lock in turns for long, and all is well.
#include "twin.h"

#include <cstring>

__global__ void through_lds(int *out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0)
    flag = 0;
  __syncthreads();
  if (threadIdx.x / 64 == 1)
    while (flag == 0) // SPIN
      ;
  __syncthreads(); // WAIT
  flag = 1;
  out[threadIdx.x] = flag;
}

__global__ void through_global(int *out, int *flag) {
  if (threadIdx.x / 64 == 1)
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0)
      ;
  __syncthreads();
  atomicExch(flag, 1);
  out[threadIdx.x] = 1;
}

__global__ void lock(int *out) {
  __shared__ int taken, turns;
  if (threadIdx.x == 0)
    taken = turns = 0;
  __syncthreads();
  if (threadIdx.x >= 64 && threadIdx.x % 64 == 0)
    for (int k = 0; k < 20000; ++k) {
      while (__hip_atomic_exchange(&taken, 1, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP))
        ;
      turns = turns + 1;
      __hip_atomic_store(&taken, 0, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
    }
  __syncthreads();
  out[threadIdx.x] = turns;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  int *out = twin::onDevice(std::vector<int>(256)), *flag = twin::onDevice(std::vector<int>(1));
  if (!std::strcmp(how, "lock")) {
    lock<<<1, 256>>>(out);
    return twin::compare(twin::fromDevice(out, 256), [](size_t) { return 60000; });
  }
  if (!std::strcmp(how, "global"))
    through_global<<<1, 128>>>(out, flag);
  else
    through_lds<<<1, 128>>>(out);
  return twin::verdict(hipDeviceSynchronize() == hipSuccess ? 0 : 1);
}
