// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Managed memory: the host adds to what a kernel adds to.
// RUN: %streams --cc=--check-host --kind=host-race --streams=1  %s
#include "streams.h"

int main() {
  int *data = nullptr;
  twin::must(hipMallocManaged(reinterpret_cast<void **>(&data), twin::kBytes), "hipMallocManaged");
  for (int i = 0; i < twin::kCount; ++i)
    data[i] = i;
  LAUNCH(twin::add, nullptr, data, data, 1); // RACE-A
#ifdef FIXED
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  int *other = twin::buffer();
  LAUNCH(twin::set, nullptr, other, 1);
#endif
  for (int i = 0; i < twin::kCount; ++i)
    data[i] += 1; // RACE-B
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  return twin::compare(std::vector<int>(data, data + twin::kCount), [](size_t i) { return int(i) + 2; });
}
