// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A callback of one stream sums up what a kernel of another one writes.
// RUN: %streams --cc=--check-host --fix='let stream 2 wait for it before the call of hipStreamAddCallback .callback_reads.hip:{GIVEN}.' %s
#include "streams.h"

namespace {

int *numbers;
long total = 0;

void sum(hipStream_t, hipError_t status, void *wanted) {
  if (status == hipSuccess && *static_cast<const int *>(wanted) == 7)
    for (int i = 0; i < twin::kCount; ++i)
      total += numbers[i]; // RACE-A
}

} // namespace

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t done = twin::event();
  numbers = twin::pinned();
  int wanted = 7;
  LAUNCH(twin::set, first, numbers, 1); // RACE-B
  twin::must(hipEventRecord(done, first), "hipEventRecord");
#ifdef FIXED
  twin::must(hipStreamWaitEvent(second, done, 0), "hipStreamWaitEvent");
#endif
  twin::must(hipStreamAddCallback(second, sum, &wanted, 0), "hipStreamAddCallback"); // GIVEN
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
#ifdef FIXED
  return twin::verdict(total != long(twin::kCount) * (twin::kCount + 1) / 2);
#else
  return twin::verdict(0);
#endif
}
