// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes that were recorded through wavesan/graph.h race like those of any graph; reports name the recorded calls.
// RUN: %cc %s -o %t %graph
// RUN: %status 66 %run90a -- %t 2>&1 | FileCheck %s
// RUN: %cc -DFIXED %s -o %t.fixed %graph
// RUN: %run90a -- %t.fixed 2>&1 | FileCheck --check-prefix=FIXED %s
// CHECK: stream-race
// CHECK: recorded_race.hip:[[# @LINE + 19]]
// CHECK: recorded_race.hip:[[# @LINE + 14]]
// CHECK: no path of edges leads from node 1 to node 2
// FIXED: 0 races
// FIXED: result: ok
#include "record_graph.h"
#include "streams.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t fork = twin::event(), join = twin::event();
  int *data = twin::buffer(), *out = twin::buffer();
  twin::graph::must(wavesan_graph_begin_capture(first, WAVESAN_GRAPH_CAPTURE_GLOBAL), "begin_capture");
  if (!twin::kFixed)
    twin::must(hipEventRecord(fork, first), "hipEventRecord");
  twin::must(hipMemsetD32Async(data, 40, twin::kCount, first), "hipMemsetD32Async");
  if (twin::kFixed)
    twin::must(hipEventRecord(fork, first), "hipEventRecord");
  twin::must(hipStreamWaitEvent(second, fork, 0), "hipStreamWaitEvent");
  LAUNCH(twin::add, second, data, out, 2);
  twin::must(hipEventRecord(join, second), "hipEventRecord");
  twin::must(hipStreamWaitEvent(first, join, 0), "hipStreamWaitEvent");
  wavesan_graph_t graph = nullptr;
  LAUNCH(twin::add, first, out, out, 1);
  twin::graph::must(wavesan_graph_end_capture(first, &graph), "end_capture");
  wavesan_executable_graph_t executable = nullptr;
  twin::graph::must(wavesan_graph_instantiate(graph, nullptr, &executable), "instantiate");
  twin::graph::must(wavesan_graph_append(second, executable, nullptr, 0, nullptr), "append");
  return twin::compare(twin::fromDevice(out, twin::kCount), [](size_t) { return 43; });
}
