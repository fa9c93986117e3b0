// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mirrors a row of 128 numbers through LDS. Two waves of 64 share the tile: each reads what the other has written, so
// without the barrier the result depends on which wave comes first. -DFIXED has the barrier.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

constexpr int kSize = 128;

__global__ void mirror(const int *in, int *out) {
  __shared__ int tile[kSize];
  int tid = threadIdx.x;
  tile[tid] = in[tid];
#ifdef FIXED
  __syncthreads();
#endif
  out[tid] = tile[kSize - 1 - tid];
}

static bool succeeded(hipError_t error, const char *what) {
  if (error != hipSuccess)
    std::fprintf(stderr, "%s: %s\n", what, hipGetErrorString(error));
  return error == hipSuccess;
}

int main() {
  std::vector<int> numbers(kSize), mirrored(kSize);
  for (int i = 0; i < kSize; ++i)
    numbers[i] = 1000 + i;
  int *in = nullptr, *out = nullptr;
  const size_t bytes = kSize * sizeof(int);
  if (!succeeded(hipMalloc(&in, bytes), "hipMalloc") || !succeeded(hipMalloc(&out, bytes), "hipMalloc") ||
      !succeeded(hipMemcpy(in, numbers.data(), bytes, hipMemcpyHostToDevice), "hipMemcpy"))
    return 1;
  mirror<<<1, kSize>>>(in, out);
  if (!succeeded(hipGetLastError(), "launch") || !succeeded(hipDeviceSynchronize(), "hipDeviceSynchronize") ||
      !succeeded(hipMemcpy(mirrored.data(), out, bytes, hipMemcpyDeviceToHost), "hipMemcpy"))
    return 1;
  int wrong = 0;
  for (int i = 0; i < kSize; ++i)
    wrong += mirrored[i] != numbers[kSize - 1 - i];
  if (wrong == 0)
    std::printf("transpose: all %d numbers are right\n", kSize);
  else
    std::printf("transpose: %d of %d numbers are wrong\n", wrong, kSize);
#ifdef FIXED
  return wrong != 0;
#else
  return 0; // whether a race shows in the result is a matter of luck
#endif
}
