// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of hipMallocAsync is used in a stream that has not waited for the allocation.
// RUN: %streams %s
#include "streams.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  int *data = nullptr;
  twin::must(hipMallocAsync(reinterpret_cast<void **>(&data), twin::kBytes, second), "hipMallocAsync"); // RACE-A
#ifdef FIXED
  twin::must(hipStreamSynchronize(second), "hipStreamSynchronize");
#endif
  LAUNCH(twin::set, first, data, 1); // RACE-B
  return twin::expectCounting(data, 1);
}
