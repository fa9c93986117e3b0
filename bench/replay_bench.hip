// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One dispatch that may write one buffer, and does write the first part of it, among others that it may not:
//   replay_bench MIB_TRACKED MIB_WRITABLE MIB_WRITTEN
//   replay_bench small     a kernel of one wave; without a replay it prints what a launch and a wait for it take
#include <hip/hip_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

/// A wave writes its 64 KiB: few instructions for the bytes.
__global__ void write(uint4 *to) {
  uint4 *const mine = to + size_t(blockIdx.x) * 4096;
  for (int i = 0; i < 64; ++i)
    mine[i * 64 + threadIdx.x].x += 1;
}

__global__ void small(int *to) { to[threadIdx.x] += 1; }

void must(hipError_t error) {
  if (error != hipSuccess) {
    std::fprintf(stderr, "replay_bench: %s\n", hipGetErrorString(error));
    std::exit(1);
  }
}

int runSmall() {
  const char *mebibytes = std::getenv("REPLAY_BENCH_MIB"); // of the buffer, where it is more than what is written
  const size_t bytes = mebibytes ? std::strtoull(mebibytes, nullptr, 0) << 20 : 4096;
  int *buffer = nullptr;
  must(hipMalloc(&buffer, bytes));
  must(hipMemset(buffer, 0, bytes));
  must(hipDeviceSynchronize());
  std::vector<long long> times;
  for (int i = std::getenv("REPLAY_BENCH_PASSES") ? 1000 : 0; i <= 1000; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    small<<<1, 64>>>(buffer);
    must(hipDeviceSynchronize());
    times.push_back(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  if (times.size() > 1)
    std::printf("launch %lld\n", times[times.size() / 2]);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 2 && std::strcmp(argv[1], "small") == 0)
    return runSmall();
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
  write<<<1, 64>>>(static_cast<uint4 *>(buffer)); // decodes the kernel
  must(hipDeviceSynchronize());
  write<<<unsigned(written >> 16), 64>>>(static_cast<uint4 *>(buffer));
  must(hipDeviceSynchronize());
  return 0;
}
