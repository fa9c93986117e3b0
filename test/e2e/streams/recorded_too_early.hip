// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The event is recorded in front of the kernel that it should stand for.
// RUN: %streams --fix='record an event in stream 1 behind .*:{A}' %s
#include "streams.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t done = twin::event();
  int *data = twin::buffer(), *out = twin::buffer();
  LAUNCH(twin::set, first, out, 0);
#ifndef FIXED
  twin::must(hipEventRecord(done, first), "hipEventRecord"); // EARLY
#endif
  LAUNCH(twin::set, first, data, 1); // RACE-A
#ifdef FIXED
  twin::must(hipEventRecord(done, first), "hipEventRecord");
#endif
  twin::must(hipStreamWaitEvent(second, done, 0), "hipStreamWaitEvent");
  LAUNCH(twin::add, second, data, out, 2); // RACE-B
  return twin::expectCounting(out, 3);
}
