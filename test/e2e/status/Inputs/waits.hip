// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel with a load in inline assembly, used before (or with -DWAITS: after) it was waited for, and one that runs. The program
// `waits other.co` also loads that code object.
#include <hip/hip_runtime.h>

#include <cstdio>

#ifdef WAITS
#define USE "s_waitcnt vmcnt(0)\n v_add_f32 %0, 1.0, %0"
#else
#define USE "v_add_f32 %0, 1.0, %0\n s_waitcnt vmcnt(0)"
#endif

__global__ void scaled(const float *in, float *out) {
  float v;
  asm volatile("global_load_dword %0, %1, off\n " USE : "=&v"(v) : "v"(in + threadIdx.x));
  out[threadIdx.x] = v;
}

__global__ void fill(float *out) { out[threadIdx.x] = 1; }

int main(int argc, char **argv) {
  float *d = nullptr, one = 0;
  bool good = hipMalloc(&d, 64 * sizeof(float)) == hipSuccess;
  if (argc > 2) // never: the CPU agent does not execute the load
    scaled<<<1, 64>>>(d, d);
  fill<<<1, 64>>>(d);
  good &= hipMemcpy(&one, d, sizeof one, hipMemcpyDeviceToHost) == hipSuccess && one == 1;
  if (argc > 1) {
    hipModule_t module;
    std::printf("loaded: %d\n", hipModuleLoad(&module, argv[1]) == hipSuccess);
  }
  std::printf("%s\n", good ? "right" : "wrong");
  return good ? 0 : 1;
}
