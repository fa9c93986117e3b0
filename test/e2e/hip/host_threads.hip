// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Eight host threads launch, copy and wait in streams of their own and in their default streams, allocate and free: each gets its own results.
// RUN: %cc %s -o %t
// RUN: %run90a -- %t 2>&1 | FileCheck %s
// RUN: %run1030 -- %t 2>&1 | FileCheck %s
// CHECK-DAG: result: ok
// CHECK-DAG: 0 races
#include "streams.h"

#include <atomic>
#include <thread>

int main() {
  std::atomic<size_t> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&wrong, t] {
      const hipStream_t own = twin::stream();
      for (int round = 0; round < 6; ++round) {
        const hipStream_t s = round % 2 ? own : hipStreamPerThread;
        int *a = twin::buffer(), *b = twin::buffer();
        LAUNCH(twin::set, s, a, t * 1000 + round);
        LAUNCH(twin::add, s, a, b, 7);
        std::vector<int> values(twin::kCount);
        twin::must(hipMemcpyAsync(values.data(), b, twin::kBytes, hipMemcpyDeviceToHost, s), "hipMemcpyAsync");
        twin::must(hipStreamSynchronize(s), "hipStreamSynchronize");
        for (int i = 0; i < twin::kCount; ++i)
          wrong += values[i] != t * 1000 + round + 7 + i;
        twin::must(hipFree(a), "hipFree");
        twin::must(hipFree(b), "hipFree");
      }
      twin::must(hipStreamDestroy(own), "hipStreamDestroy");
    });
  for (std::thread &t : threads)
    t.join();
  return twin::verdict(wrong);
}
