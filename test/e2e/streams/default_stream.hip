// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The default stream waits for a blocking stream, and not for a non-blocking one.
// RUN: %streams --fix='behind the launch of twin::set .*:{A}.: hipEventRecord.event, <stream 1>.; and let the default stream wait .*hipStreamWaitEvent.0, event' %s
#include "streams.h"

int main() {
#ifdef FIXED
  const hipStream_t other = twin::stream(hipStreamDefault);
#else
  const hipStream_t other = twin::stream();
#endif
  int *data = twin::buffer(), *out = twin::buffer();
  LAUNCH(twin::set, other, data, 1);     // RACE-A
  LAUNCH(twin::add, nullptr, data, out, 2); // RACE-B
  return twin::expectCounting(out, 3);
}
