// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A synchronous copy in the default stream does not wait for a non-blocking stream.
// RUN: %streams --fix='or call hipStreamSynchronize.<stream 1>. before it' %s
#include "streams.h"

int main() {
  const hipStream_t other = twin::stream();
  int *data = twin::buffer();
  std::vector<int> host(twin::kCount);
  LAUNCH(twin::set, other, data, 1); // RACE-A
#ifdef FIXED
  twin::must(hipStreamSynchronize(other), "hipStreamSynchronize");
#endif
  twin::must(hipMemcpy(host.data(), data, twin::kBytes, hipMemcpyDeviceToHost), "hipMemcpy"); // RACE-B
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  return twin::compare(host, [](size_t i) { return 1 + int(i); });
}
