// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every kind of order that HIP documents, without a race.
// RUN: %streams --only-clean --targets=gfx90a,gfx1030 --streams=4 %s
#include "streams.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream(), blocking = twin::stream(hipStreamDefault);
  const hipEvent_t done = twin::event();
  int *data = twin::buffer(), *host = twin::pinned();
  std::vector<int> pageable(twin::kCount, 1);
  LAUNCH(twin::set, first, data, 1);
  twin::must(hipEventRecord(done, first), "hipEventRecord");
  twin::must(hipEventSynchronize(done), "hipEventSynchronize"); // the host waits for the event
  LAUNCH(twin::add, second, data, data, 1);
  while (hipStreamQuery(second) != hipSuccess) // or asks until the stream is done
    ;
  LAUNCH(twin::add, first, data, data, 1);
  twin::must(hipEventRecord(done, first), "hipEventRecord");
  while (hipEventQuery(done) != hipSuccess)
    ;
  LAUNCH(twin::add, nullptr, data, data, 1);  // the default stream ...
  LAUNCH(twin::add, blocking, data, data, 1); // ... and a blocking one wait for one another
  LAUNCH(twin::add, nullptr, data, data, 1);
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  LAUNCH(twin::add, second, data, data, 1);
  twin::must(hipStreamSynchronize(second), "hipStreamSynchronize");
  twin::must(hipMemcpyAsync(host, data, twin::kBytes, hipMemcpyDeviceToHost, first), "hipMemcpyAsync");
  twin::must(hipEventRecord(done, first), "hipEventRecord");
  twin::must(hipStreamWaitEvent(second, done, 0), "hipStreamWaitEvent");
  twin::must(hipMemcpyAsync(data, host, twin::kBytes, hipMemcpyHostToDevice, second), "hipMemcpyAsync");
  twin::must(hipStreamSynchronize(second), "hipStreamSynchronize");
  twin::must(hipMemcpyAsync(pageable.data(), data, twin::kBytes, hipMemcpyDeviceToHost, first), "hipMemcpyAsync");
  LAUNCH(twin::add, second, data, data, 1); // a copy into pageable memory is synchronous
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  return twin::expectCounting(data, 8);
}
