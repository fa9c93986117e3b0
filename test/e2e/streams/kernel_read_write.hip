// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel writes what one of another stream still reads.
// RUN: %streams --fix='event in stream 1 behind .*:{A}' %s
#include "streams.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  int *data = twin::buffer(), *out = twin::buffer();
  LAUNCH(twin::set, first, data, 1);
  twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
  LAUNCH(twin::add, first, data, out, 1); // RACE-A
#ifdef FIXED
  twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
#endif
  LAUNCH(twin::set, second, data, 7); // RACE-B
  return twin::expectCounting(out, 2);
}
