// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host reads what a copy is still writing.
// RUN: %streams --cc=--check-host --kind=host-race --streams=1 --fix='call hipStreamSynchronize.<stream 1>., .*behind hipMemcpyAsync .host_reads_copy.hip:{A}.' %s
#include "streams.h"

int main() {
  const hipStream_t stream = twin::stream(hipStreamDefault);
  int *data = twin::buffer(), *host = twin::pinned();
  LAUNCH(twin::set, stream, data, 5);
  twin::must(hipMemcpyAsync(host, data, twin::kBytes, hipMemcpyDeviceToHost, stream), "hipMemcpyAsync"); // RACE-A
#ifdef FIXED
  twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
  LAUNCH(twin::set, stream, data, 6); // something is under way all the same
#endif
  size_t wrong = 0;
  for (int i = 0; i < twin::kCount; ++i)
    wrong += host[i] != 5 + i; // RACE-B
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  return twin::verdict(wrong);
}
