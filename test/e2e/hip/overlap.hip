// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams run at the same time: a kernel that spins until a copy in another stream changes its flag ends, and so do two kernels that wait for each other.
// RUN: %cc %s -o %t
// RUN: %run90a -o check_streams=0 -- %t 2>&1 | FileCheck %s
// RUN: %run1030 -o check_streams=0 -- %t 2>&1 | FileCheck %s
// CHECK: result: ok
#include "streams.h"

__global__ void waitFor(int *flag, int value, int *own, int mine) {
  if (threadIdx.x == 0) {
    if (own)
      __hip_atomic_store(own, mine, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) != value)
      __builtin_amdgcn_s_sleep(1);
  }
}

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  int *flags = twin::pinned(), *values = twin::pinned(), *device = twin::buffer();
  flags[0] = flags[1] = flags[2] = 0;
  values[0] = 5;
  // A copy, which must not wait for the kernel in front of it.
  waitFor<<<1, 64, 0, first>>>(flags, 5, nullptr, 0);
  twin::must(hipMemcpyAsync(flags, values, sizeof(int), hipMemcpyHostToHost, second), "hipMemcpyAsync");
  twin::must(hipStreamSynchronize(first), "kernel and copy");
  // A fill, by a blit kernel.
  twin::must(hipMemset(device, 0, twin::kBytes), "hipMemset");
  twin::must(hipDeviceSynchronize(), "hipMemset");
  waitFor<<<1, 64, 0, first>>>(device, 0x07070707, nullptr, 0);
  twin::must(hipMemsetAsync(device, 7, 64, second), "hipMemsetAsync");
  twin::must(hipStreamSynchronize(first), "kernel and fill");
  // Two kernels, in both directions.
  waitFor<<<1, 64, 0, first>>>(flags + 1, 6, flags + 2, 8);
  waitFor<<<1, 64, 0, second>>>(flags + 2, 8, flags + 1, 6);
  twin::must(hipStreamSynchronize(first), "two kernels");
  twin::must(hipStreamSynchronize(second), "two kernels");
  // And the host.
  waitFor<<<1, 64, 0, first>>>(flags, 77, nullptr, 0);
  if (hipStreamQuery(first) != hipErrorNotReady)
    return 3;
  __atomic_store_n(flags, 77, __ATOMIC_RELEASE);
  twin::must(hipStreamSynchronize(first), "kernel and host");
  return twin::verdict(0);
}
