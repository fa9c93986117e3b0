// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two copies in two streams, one out of what the other one fills.
// RUN: %streams %s
#include "streams.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  int *data = twin::buffer(), *other = twin::buffer(), *host = twin::pinned();
  for (int i = 0; i < twin::kCount; ++i)
    host[i] = 3 + i;
  twin::must(hipMemcpyAsync(data, host, twin::kBytes, hipMemcpyHostToDevice, first), "hipMemcpyAsync"); // RACE-A
#ifdef FIXED
  twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
#endif
  twin::must(hipMemcpyAsync(other, data, twin::kBytes, hipMemcpyDeviceToDevice, second), "hipMemcpyAsync"); // RACE-B
  LAUNCH(twin::add, second, other, other, 1);
  return twin::expectCounting(other, 4);
}
