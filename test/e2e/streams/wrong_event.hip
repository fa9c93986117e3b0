// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stream waits for an event, but for that of another stream.
// RUN: %streams --fix='the event recorded at wrong_event.hip:{RIGHT} covers' %s
#include "streams.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream(), third = twin::stream();
  const hipEvent_t one = twin::event(), two = twin::event();
  int *data = twin::buffer(), *other = twin::buffer(), *out = twin::buffer();
  LAUNCH(twin::set, first, data, 1);                        // RACE-A
  twin::must(hipEventRecord(one, first), "hipEventRecord"); // RIGHT
  LAUNCH(twin::set, second, other, 1);
  twin::must(hipEventRecord(two, second), "hipEventRecord");
  twin::must(hipStreamWaitEvent(third, twin::kFixed ? one : two, 0), "hipStreamWaitEvent");
  LAUNCH(twin::add, third, data, out, 2); // RACE-B
  return twin::expectCounting(out, 3);
}
