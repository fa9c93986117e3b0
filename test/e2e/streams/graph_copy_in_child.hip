// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A copy, and a kernel inside of a child graph.
// RUN: %streams --streams=0 %s
#include "graphs.h"

int main() {
  int *from = twin::buffer(), *data = twin::buffer(), *out = twin::buffer();
  twin::must(hipMemsetD32(from, 40, twin::kCount), "hipMemsetD32");
  const hipGraph_t graph = twin::newGraph(), child = twin::newGraph();
  const twin::KernelNode adds(twin::add, {data, out, 2});
  hipGraphNode_t copy, add, inner;
  twin::must(hipGraphAddKernelNode(&add, child, nullptr, 0, &adds), "hipGraphAddKernelNode"); // RACE-A
  twin::must(hipGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, data, from, twin::kBytes, hipMemcpyDeviceToDevice), "copy"); // RACE-B
#ifdef FIXED
  twin::must(hipGraphAddChildGraphNode(&inner, graph, &copy, 1, child), "hipGraphAddChildGraphNode");
#else
  twin::must(hipGraphAddChildGraphNode(&inner, graph, nullptr, 0, child), "hipGraphAddChildGraphNode");
#endif
  twin::launchGraph(graph, nullptr);
  return twin::compare(twin::fromDevice(out, twin::kCount), [](size_t) { return 42; });
}
