// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One executable graph, launched into two streams: HIP does not order the launches.
// RUN: %streams --fix='let stream 3 wait for it before the launch of the graph .graph_in_two_streams.hip:{B}.' %s
// RUN: %status 66 %run90a -- %t.racy 2> %t.err
// RUN: FileCheck %s < %t.err
// CHECK: wavesan: stream-race: global memory
// CHECK: both are launches of one executable graph: HIP does not put them into an order when they are in different streams (CUDA does)
#include "graphs.h"

int main() {
  int *data = twin::buffer();
  twin::must(hipMemset(data, 0, twin::kBytes), "hipMemset");
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t done = twin::event();
  const hipGraph_t graph = twin::newGraph();
  const twin::KernelNode sets(twin::set, {data, 5});
  hipGraphNode_t node;
  twin::must(hipGraphAddKernelNode(&node, graph, nullptr, 0, &sets), "hipGraphAddKernelNode");
  hipGraphExec_t exec;
  twin::must(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), "hipGraphInstantiate");
  twin::must(hipGraphLaunch(exec, first), "hipGraphLaunch"); // RACE-A
#ifdef FIXED
  twin::must(hipEventRecord(done, first), "hipEventRecord");
  twin::must(hipStreamWaitEvent(second, done, 0), "hipStreamWaitEvent");
#endif
  twin::must(hipGraphLaunch(exec, second), "hipGraphLaunch"); // RACE-B
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  return twin::expectCounting(data, 5);
}
