// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function that the host executes as a command of one stream fills a buffer that a kernel of another stream reads. It is ordered as a command of its
// stream: what comes later there, and the host once it has been executed, are no races.
// RUN: %streams --cc=--check-host --targets=gfx90a,gfx1030 --fix='the event recorded at host_function_writes.hip:[0-9]+ covers the call of hipStreamAddCallback .host_function_writes.hip:{GIVEN}.: let stream 2 wait for it before the launch of twin::add .host_function_writes.hip:{B}.' %s
#include "streams.h"

#include <atomic>
#include <thread>

namespace {

int *parameters;
std::atomic<bool> gate{false}, filled{false};

void wait(hipStream_t, hipError_t, void *) {
  while (!gate)
    std::this_thread::yield();
}
void fill(hipStream_t, hipError_t, void *) {
  for (int i = 0; i < twin::kCount; ++i)
    parameters[i] = 3 + i; // RACE-A
  filled = true;
}

} // namespace

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t done = twin::event();
  parameters = twin::pinned();
  int *data = twin::buffer(), *out = twin::buffer();
  LAUNCH(twin::set, first, parameters, 0); // before the function, in its stream
  // Until the host has submitted everything, so that it has not learned by then that the function has run.
  twin::must(hipStreamAddCallback(first, wait, nullptr, 0), "hipStreamAddCallback");
  twin::must(hipStreamAddCallback(first, fill, nullptr, 0), "hipStreamAddCallback"); // GIVEN
  twin::must(hipEventRecord(done, first), "hipEventRecord");
  LAUNCH(twin::add, first, parameters, data, 1); // behind it
#ifdef FIXED
  twin::must(hipStreamWaitEvent(second, done, 0), "hipStreamWaitEvent");
#endif
  LAUNCH(twin::add, second, parameters, out, 2); // RACE-B
  gate = true;
  while (!filled)
    std::this_thread::yield();
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  if (const int wrong = twin::expectCounting(data, 4))
    return wrong;
  return twin::expectCounting(out, 5);
}
