// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One dispatch that may write one buffer, and does write the first part of it, among others that it may not:
//   replay_bench MIB_TRACKED MIB_WRITABLE MIB_WRITTEN
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace {

/// A wave writes its 64 KiB: few instructions for the bytes.
__global__ void write(uint4 *to) {
  uint4 *const mine = to + size_t(blockIdx.x) * 4096;
  for (int i = 0; i < 64; ++i)
    mine[i * 64 + threadIdx.x].x += 1;
}

void must(hipError_t error) {
  if (error != hipSuccess) {
    std::fprintf(stderr, "replay_bench: %s\n", hipGetErrorString(error));
    std::exit(1);
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4)
    return 1;
  const size_t tracked = std::strtoull(argv[1], nullptr, 0) << 20, writable = std::strtoull(argv[2], nullptr, 0) << 20,
               written = std::strtoull(argv[3], nullptr, 0) << 20;
  void *others = nullptr, *gap = nullptr, *buffer = nullptr;
  must(hipMalloc(&others, tracked - writable));
  must(hipMemset(others, 1, tracked - writable));
  must(hipMalloc(&gap, 1 << 20)); // so that the buffer has no large neighbour (docs/replay.md)
  must(hipMalloc(&buffer, writable));
  must(hipMemset(buffer, 1, writable));
  must(hipDeviceSynchronize());
  write<<<unsigned(written >> 16), 64>>>(static_cast<uint4 *>(buffer));
  must(hipDeviceSynchronize());
  return 0;
}
