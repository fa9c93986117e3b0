// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fill and a kernel in two streams.
// RUN: %streams %s
#include "streams.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t done = twin::event();
  int *data = twin::buffer();
  twin::must(hipMemsetAsync(data, 0, twin::kBytes, first), "hipMemsetAsync"); // RACE-A
#ifdef FIXED
  twin::must(hipEventRecord(done, first), "hipEventRecord");
  twin::must(hipStreamWaitEvent(second, done, 0), "hipStreamWaitEvent");
#endif
  LAUNCH(twin::set, second, data, 4); // RACE-B
  return twin::expectCounting(data, 4);
}
