// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HIP does not capture callbacks: one that is added while its stream is captured is executed, and is no node that the host would learn from.
// RUN: %streams --cc=--check-host %s
#include "streams.h"

namespace {

void count(hipStream_t, hipError_t, void *calls) { ++*static_cast<int *>(calls); }

} // namespace

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  int *data = twin::buffer(), calls = 0;
  hipGraph_t graph;
  twin::must(hipStreamBeginCapture(first, hipStreamCaptureModeRelaxed), "hipStreamBeginCapture");
  LAUNCH(twin::set, first, data, 1);
  twin::must(hipStreamAddCallback(first, count, &calls, 0), "hipStreamAddCallback");
  twin::must(hipStreamEndCapture(first, &graph), "hipStreamEndCapture");
  hipGraphExec_t exec;
  twin::must(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), "hipGraphInstantiate");
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  twin::must(hipGraphLaunch(exec, first), "hipGraphLaunch"); // RACE-A
#ifdef FIXED
  twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
#endif
  LAUNCH(twin::set, second, data, 2); // RACE-B
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  if (calls != 1)
    return std::printf("%d calls\n", calls), 1;
  return twin::expectCounting(data, 2);
}
