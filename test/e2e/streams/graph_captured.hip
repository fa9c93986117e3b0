// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph that HIP has captured from two streams: the second one's kernel reads what the first one writes behind the fork.
// RUN: %streams --streams=0 --fix "while capturing, let the stream of node 3 wait before kernel twin::add .*:{B}\) for an event recorded behind kernel twin::set .*:{A}\) \(node 2\)" %s
#include "graphs.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t fork = twin::event(), join = twin::event();
  int *data = twin::buffer(), *out = twin::buffer(), *last = twin::buffer();
  hipGraph_t graph;
  twin::must(hipStreamBeginCapture(first, hipStreamCaptureModeGlobal), "hipStreamBeginCapture");
  LAUNCH(twin::set, first, last, 1);
#ifndef FIXED
  twin::must(hipEventRecord(fork, first), "hipEventRecord");
#endif
  LAUNCH(twin::set, first, data, 1); // RACE-A
#ifdef FIXED
  twin::must(hipEventRecord(fork, first), "hipEventRecord");
#endif
  twin::must(hipStreamWaitEvent(second, fork, 0), "hipStreamWaitEvent");
  LAUNCH(twin::add, second, data, out, 2); // RACE-B
  twin::must(hipEventRecord(join, second), "hipEventRecord");
  twin::must(hipStreamWaitEvent(first, join, 0), "hipStreamWaitEvent");
  LAUNCH(twin::add, first, out, last, 1);
  twin::must(hipStreamEndCapture(first, &graph), "hipStreamEndCapture");
  twin::launchGraph(graph, first);
  return twin::expectCounting(last, 4);
}
