// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A wait is for the record that is the latest when it is entered: one that comes later does not count.
// RUN: %streams --fix='the event recorded at recorded_again.hip:{LATE} covers .*let stream 2 wait for it before .*:{B}' %s
#include "streams.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t done = twin::event();
  int *data = twin::buffer(), *out = twin::buffer();
  LAUNCH(twin::set, first, out, 0);
  twin::must(hipEventRecord(done, first), "hipEventRecord");
#ifndef FIXED
  twin::must(hipStreamWaitEvent(second, done, 0), "hipStreamWaitEvent");
#endif
  LAUNCH(twin::set, first, data, 1);                         // RACE-A
  twin::must(hipEventRecord(done, first), "hipEventRecord"); // LATE
#ifdef FIXED
  twin::must(hipStreamWaitEvent(second, done, 0), "hipStreamWaitEvent");
#endif
  LAUNCH(twin::add, second, data, out, 2); // RACE-B
  return twin::expectCounting(out, 3);
}
