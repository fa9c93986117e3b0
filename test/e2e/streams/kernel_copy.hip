// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A copy to the host reads what a kernel of another stream writes.
// RUN: %streams --targets=gfx90a,gfx1030 %s
#include "streams.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t done = twin::event();
  int *data = twin::buffer(), *host = twin::pinned();
  LAUNCH(twin::set, first, data, 1); // RACE-A
#ifdef FIXED
  twin::must(hipEventRecord(done, first), "hipEventRecord");
  twin::must(hipStreamWaitEvent(second, done, 0), "hipStreamWaitEvent");
#endif
  twin::must(hipMemcpyAsync(host, data, twin::kBytes, hipMemcpyDeviceToHost, second), "hipMemcpyAsync"); // RACE-B
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  return twin::compare(std::vector<int>(host, host + twin::kCount), [](size_t i) { return 1 + int(i); });
}
