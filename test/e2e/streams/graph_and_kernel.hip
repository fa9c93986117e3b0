// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch of a graph and a kernel of another stream.
// RUN: %streams %s
#include "streams.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t done = twin::event();
  int *data = twin::buffer(), *out = twin::buffer();
  hipGraph_t graph;
  hipGraphExec_t exec;
  twin::must(hipStreamBeginCapture(first, hipStreamCaptureModeGlobal), "hipStreamBeginCapture");
  LAUNCH(twin::set, first, data, 1);
  twin::must(hipStreamEndCapture(first, &graph), "hipStreamEndCapture");
  twin::must(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), "hipGraphInstantiate");
  twin::must(hipGraphLaunch(exec, first), "hipGraphLaunch"); // RACE-A
#ifdef FIXED
  twin::must(hipEventRecord(done, first), "hipEventRecord");
  twin::must(hipStreamWaitEvent(second, done, 0), "hipStreamWaitEvent");
#endif
  LAUNCH(twin::add, second, data, out, 2); // RACE-B
  return twin::expectCounting(out, 3);
}
