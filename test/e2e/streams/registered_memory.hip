// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registered host memory has two addresses: a kernel uses the device's, a copy the host's.
// RUN: %streams --targets=gfx90a,gfx1030 --fix='record an event in stream 1 behind the launch of twin::set .registered_memory.hip:{A}.' %s
#include "streams.h"

#include <cstdlib>

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t done = twin::event();
  int *host = static_cast<int *>(std::aligned_alloc(4096, 3 * twin::kBytes)), *device = nullptr, *out = twin::buffer();
  twin::must(hipHostRegister(host, 3 * twin::kBytes, hipHostRegisterDefault), "hipHostRegister");
  twin::must(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), host, 0), "hipHostGetDevicePointer");
  const int middle = twin::kCount; // not where the memory begins
  LAUNCH(twin::set, first, device + middle, 4); // RACE-A
  twin::must(hipMemcpyAsync(out, host + 2 * middle, twin::kBytes, hipMemcpyHostToDevice, second), "hipMemcpyAsync"); // other bytes
#ifdef FIXED
  twin::must(hipEventRecord(done, first), "hipEventRecord");
  twin::must(hipStreamWaitEvent(second, done, 0), "hipStreamWaitEvent");
#endif
  twin::must(hipMemcpyAsync(out, host + middle, twin::kBytes, hipMemcpyHostToDevice, second), "hipMemcpyAsync"); // RACE-B
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  const int wrong = twin::expectCounting(out, 4);
  twin::must(hipHostUnregister(host), "hipHostUnregister");
  std::free(host);
  return wrong;
}
