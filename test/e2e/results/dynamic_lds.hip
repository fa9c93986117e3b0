// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dynamic LDS: two arrays of different types in one allocation whose size the launch decides, launched with three sizes.
// RUN: %clean --kernels=1 %s
#include "twin.h"

extern __shared__ double storage[];

__global__ void reverse(const double *in, const short *keys, double *out, short *outKeys, int n) {
  double *values = storage;
  short *tags = reinterpret_cast<short *>(storage + n);
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    values[i] = in[i];
    tags[n - 1 - i] = keys[i];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    out[i] = values[n - 1 - i];
    outKeys[i] = tags[i];
  }
}

int main() {
  size_t wrong = 0;
  for (int n : {64, 257, 3000}) {
    const std::vector<double> numbers = twin::counting<double>(n);
    const std::vector<short> keys = twin::counting<short>(n);
    double *in = twin::onDevice(numbers), *out = twin::onDevice(std::vector<double>(n));
    short *inKeys = twin::onDevice(keys), *outKeys = twin::onDevice(std::vector<short>(n));
    reverse<<<1, 256, n * (sizeof(double) + sizeof(short))>>>(in, inKeys, out, outKeys, n);
    const std::vector<double> got = twin::fromDevice(out, n);
    const std::vector<short> gotKeys = twin::fromDevice(outKeys, n);
    for (int i = 0; i < n; ++i)
      wrong += got[i] != numbers[n - 1 - i] || gotKeys[i] != keys[n - 1 - i];
  }
  return twin::verdict(wrong);
}
