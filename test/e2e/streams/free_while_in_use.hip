// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory is freed in one stream while a kernel of another one uses it.
// RUN: %streams --targets=gfx90a,gfx1030 %s
#include "streams.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t done = twin::event();
  int *data = nullptr, *out = twin::buffer();
  twin::must(hipMallocAsync(reinterpret_cast<void **>(&data), twin::kBytes, second), "hipMallocAsync");
  twin::must(hipMemsetAsync(data, 0, twin::kBytes, second), "hipMemsetAsync");
  twin::must(hipStreamSynchronize(second), "hipStreamSynchronize");
  LAUNCH(twin::set, first, out, 9);
  LAUNCH(twin::add, first, data, out, 2); // RACE-A
#ifdef FIXED
  twin::must(hipEventRecord(done, first), "hipEventRecord");
  twin::must(hipStreamWaitEvent(second, done, 0), "hipStreamWaitEvent");
#endif
  twin::must(hipFreeAsync(data, second), "hipFreeAsync"); // RACE-B
  return twin::compare(twin::fromDevice(out, twin::kCount), [](size_t) { return 2; });
}
