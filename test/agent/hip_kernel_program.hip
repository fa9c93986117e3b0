// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A HIP program whose kernel was not compiled with `wavesan cc`. Must not get to its last line with a wrong result.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void writeOne(int *p) { *p = 1; } // needs no device library

int main() {
  int *device = nullptr, host[64] = {};
  if (hipMalloc(reinterpret_cast<void **>(&device), sizeof(host)) != hipSuccess)
    return 2;
  writeOne<<<1, 1>>>(device);
  const hipError_t launch = hipDeviceSynchronize();
  const hipError_t copy = hipMemcpy(host, device, sizeof(host), hipMemcpyDeviceToHost);
  std::printf("result %d, launch %s, copy %s\n", host[0], hipGetErrorName(launch), hipGetErrorName(copy));
  return 0;
}
