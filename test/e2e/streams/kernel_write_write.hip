// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two kernels write one buffer, in two streams.
// RUN: %streams --targets=gfx90a,gfx1030 --fix='record an event in stream 1 behind the launch of twin::set .kernel_write_write.hip:{A}.: hipEventRecord.event, <stream 1>.; and let stream 2 wait for it before .*:{B}' %s
#include "streams.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t done = twin::event();
  int *data = twin::buffer();
  LAUNCH(twin::set, first, data, 1); // RACE-A
#ifdef FIXED
  twin::must(hipEventRecord(done, first), "hipEventRecord");
  twin::must(hipStreamWaitEvent(second, done, 0), "hipStreamWaitEvent");
#endif
  LAUNCH(twin::set, second, data, 5); // RACE-B
  return twin::expectCounting(data, 5);
}
