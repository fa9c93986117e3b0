// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A million workgroups write a gigabyte, others look at it with 64 KiB of LDS each: in the gigabyte and little else.
// clang-format off
// RUN: %cc -std=c++20 %s -o %t
// RUN: %run90a -o 'kernels=!*:incomplete_exitcode=0:threads=4' -- %t
// RUN: %run90a -o 'kernels=!*:incomplete_exitcode=0:threads=1' -- %t
// clang-format on
#include "twin.h"

#include <sys/resource.h>

constexpr unsigned kGroups = 1 << 20, kThreads = 64, kRow = 4;

__device__ unsigned value(unsigned i) { return i * 2654435761u ^ i >> 7; }

__global__ void fill(uint4 *out) {
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  out[i] = {value(kRow * i), value(kRow * i + 1), value(kRow * i + 2), value(kRow * i + 3)};
}

// One workgroup of 1,024 for 64 of those that wrote, in the opposite order.
__global__ __launch_bounds__(1024) void look(const uint4 *in, unsigned *wrong) {
  extern __shared__ unsigned found[];
  const unsigned t = threadIdx.x;
  unsigned mistakes = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned i = ((gridDim.x - 1 - blockIdx.x) * 4 + k) * 1024 + t;
    const uint4 v = in[i];
    mistakes += (v.x != value(kRow * i)) + (v.y != value(kRow * i + 1)) + (v.z != value(kRow * i + 2)) +
                (v.w != value(kRow * i + 3));
  }
  found[16 * t] = mistakes;
  __syncthreads();
  if (found[16 * (1023 - t)])
    atomicAdd(wrong, found[16 * (1023 - t)]);
}

static long peakMiB() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

int main() {
  unsigned *wrong = twin::onDevice(std::vector<unsigned>{0});
  uint4 *memory = nullptr;
  const size_t bytes = size_t(kGroups) * kThreads * sizeof(uint4);
  twin::must(hipMalloc(&memory, bytes), "hipMalloc");
  fill<<<1, kThreads>>>(memory); // loads the code object
  look<<<1, 1024, 64 << 10>>>(memory, wrong);
  twin::must(hipMemset(wrong, 0, sizeof(unsigned)), "hipMemset");
  const long before = peakMiB();
  fill<<<kGroups, kThreads>>>(memory);
  look<<<kGroups / 64, 1024, 64 << 10>>>(memory, wrong);
  const unsigned mistakes = twin::fromDevice(wrong, 1)[0];
  const long more = peakMiB() - before;
  std::printf("%u wrong, %ld MiB\n", mistakes, more);
  return mistakes != 0 || more > long(bytes >> 20) + 32;
}
