// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two kernel nodes of one graph, with and without an edge. Both have the same kernel and shape: they are told apart by their arguments.
// RUN: %streams --targets=gfx90a,gfx1030 --streams=0 --fix "add the missing edge: hipGraphAddDependencies\(graph, &<node 1>, &<node 2>, 1\)" %s
#include "graphs.h"

int main() {
  int *data = twin::buffer(), *out = twin::buffer(), *third = twin::buffer();
  twin::must(hipMemset(third, 0, twin::kBytes), "hipMemset");
  twin::must(hipMemset(data, 0, twin::kBytes), "hipMemset");
  const hipGraph_t graph = twin::newGraph();
  const twin::KernelNode makes(twin::add, {third, data, 1}), uses(twin::add, {data, out, 2});
  const twin::KernelNode behind(twin::set, {third, 5});
  hipGraphNode_t make, use, after;
  twin::must(hipGraphAddKernelNode(&make, graph, nullptr, 0, &makes), "hipGraphAddKernelNode"); // RACE-A
  twin::must(hipGraphAddKernelNode(&use, graph, nullptr, 0, &uses), "hipGraphAddKernelNode");   // RACE-B
#ifdef FIXED
  twin::must(hipGraphAddDependencies(graph, &make, &use, 1), "hipGraphAddDependencies");
#endif
  // Ordered with the first one, and nothing to do with the second.
  twin::must(hipGraphAddKernelNode(&after, graph, &make, 1, &behind), "hipGraphAddKernelNode");
  twin::launchGraph(graph, nullptr);
  return twin::compare(twin::fromDevice(out, twin::kCount), [](size_t) { return 3; });
}
