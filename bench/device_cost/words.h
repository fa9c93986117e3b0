// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of HIP that the measured kernels use. No installed HIP and no device library: these exist for some targets
// only, and what they add is not what is measured.
#ifndef WAVESAN_DEVICE_COST_WORDS_H
#define WAVESAN_DEVICE_COST_WORDS_H

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))

typedef float Float4 __attribute__((ext_vector_type(4)));

__device__ inline unsigned thread() { return __builtin_amdgcn_workitem_id_x(); }
__device__ inline unsigned block() { return __builtin_amdgcn_workgroup_id_x(); }
__device__ inline void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

#endif // WAVESAN_DEVICE_COST_WORDS_H
