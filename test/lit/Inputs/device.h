// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of HIP that the tests use, without an installed HIP.
#ifndef WAVESAN_TEST_DEVICE_H
#define WAVESAN_TEST_DEVICE_H

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __noinline __attribute__((noinline))

__device__ inline unsigned threadX() { return __builtin_amdgcn_workitem_id_x(); }
__device__ inline unsigned blockX() { return __builtin_amdgcn_workgroup_id_x(); }
__device__ inline void syncThreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

#endif // WAVESAN_TEST_DEVICE_H
