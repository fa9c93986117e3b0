// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A destroyed event: what waited for it still depends on its record; the next event at that address knows nothing of
// it.
//
// RUN: %cc %s -o %t
// RUN: %trace -o %t.trace -- %t | FileCheck %s
// RUN: %check_trace %t.trace hipStreamWaitEvent=resolved,never_recorded,resolved
// RUN: %check_trace %t.trace hipEventSynchronize=never_recorded hipEventDestroy#2
// CHECK: result: ok
#include "twin.h"

int main() {
  hipStream_t first, second;
  hipEvent_t event;
  twin::must(hipStreamCreate(&first), "hipStreamCreate");
  twin::must(hipStreamCreate(&second), "hipStreamCreate");
  twin::must(hipEventCreate(&event), "hipEventCreate");
  twin::must(hipEventRecord(event, first), "hipEventRecord");
  twin::must(hipStreamWaitEvent(second, event, 0), "hipStreamWaitEvent");
  twin::must(hipEventDestroy(event), "hipEventDestroy");
  twin::must(hipEventCreate(&event), "hipEventCreate");
  twin::must(hipStreamWaitEvent(second, event, 0), "hipStreamWaitEvent");
  twin::must(hipEventSynchronize(event), "hipEventSynchronize");
  twin::must(hipEventRecord(event, first), "hipEventRecord");
  twin::must(hipStreamWaitEvent(second, event, 0), "hipStreamWaitEvent");
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  twin::must(hipEventDestroy(event), "hipEventDestroy");
  std::puts("result: ok");
}
