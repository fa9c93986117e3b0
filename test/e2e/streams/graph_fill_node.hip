// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fill and a kernel of one graph, launched three times: one report.
// RUN: %streams --targets=gfx90a,gfx1030 --streams=0 --fix "hipGraphAddDependencies\(graph, &<node 1>, &<node 2>, 1\)" %s
#include "graphs.h"

int main() {
  int *data = twin::buffer(), *out = twin::buffer();
  const hipGraph_t graph = twin::newGraph();
  const hipMemsetParams fills = twin::fillNode(data, 40);
  const twin::KernelNode adds(twin::add, {data, out, 2});
  hipGraphNode_t fill, add;
  twin::must(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &fills), "hipGraphAddMemsetNode"); // RACE-A
#ifdef FIXED
  twin::must(hipGraphAddKernelNode(&add, graph, &fill, 1, &adds), "hipGraphAddKernelNode");
#else
  twin::must(hipGraphAddKernelNode(&add, graph, nullptr, 0, &adds), "hipGraphAddKernelNode"); // RACE-B
#endif
  twin::launchGraph(graph, twin::stream(), 3);
  return twin::compare(twin::fromDevice(out, twin::kCount), [](size_t) { return 42; });
}
