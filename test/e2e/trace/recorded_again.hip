// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An event that another thread records again while the host waits for it: the wait is for the first record.
//
// RUN: %cc %s -o %t -pthread
// RUN: %trace -o %t.trace -- %t | FileCheck %s
// RUN: %check_trace %t.trace cross hipEventSynchronize@1,2 hipEventRecord#2
// CHECK: result: ok
#include "twin.h"

#include <atomic>
#include <chrono>
#include <thread>

__global__ void waitFor(volatile int *flag) {
  while (*flag == 0)
    ;
}

int main() {
  hipStream_t first, second;
  hipEvent_t event;
  int *flag;
  twin::must(hipHostMalloc(&flag, sizeof *flag, 0), "hipHostMalloc");
  *flag = 0;
  twin::must(hipStreamCreate(&first), "hipStreamCreate");
  twin::must(hipStreamCreate(&second), "hipStreamCreate");
  twin::must(hipEventCreate(&event), "hipEventCreate");
  waitFor<<<1, 1, 0, first>>>(flag);
  twin::must(hipEventRecord(event, first), "hipEventRecord");
  // HIP may keep the second record waiting until the first wait is over; so neither of them lets the kernel end.
  std::thread waiting([&] { twin::must(hipEventSynchronize(event), "hipEventSynchronize"); });
  std::thread ending([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
    *static_cast<volatile int *>(flag) = 1;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  twin::must(hipEventRecord(event, second), "hipEventRecord");
  waiting.join();
  ending.join();
  twin::must(hipEventSynchronize(event), "hipEventSynchronize");
  std::puts("result: ok");
}
