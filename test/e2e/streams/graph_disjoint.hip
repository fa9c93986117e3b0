// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes without edges that touch disjoint halves, byte by byte; and a chain of nodes that are alike.
// RUN: %streams --targets=gfx90a,gfx1030 --streams=0 --only-clean %s
// RUN: %cc %s -o %t
// RUN: %run90a -- %t 2>&1 | FileCheck %s
// CHECK-NOT: not completely compared
// CHECK: wavesan: checked {{[1-9][0-9]*}} accesses in 2 kernels: 0 races
#include "graphs.h"

namespace {

__global__ void half(int *p, int which, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 2 == which)
    p[i] = value;
}
__global__ void increment(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

} // namespace

int main() {
  int *data = twin::buffer(), *split = twin::buffer();
  const hipGraph_t graph = twin::newGraph();
  const twin::KernelNode even(half, {data, 0, 7}), odd(half, {data, 1, 7});
  const twin::KernelNode more(increment, {data});
  const int middle = twin::kCount / 2;
  const hipMemsetParams left = twin::fillNode(split, 1, middle), right = twin::fillNode(split + middle, 2, middle);
  hipGraphNode_t halves[2], fill, last;
  twin::must(hipGraphAddKernelNode(&halves[0], graph, nullptr, 0, &even), "hipGraphAddKernelNode");
  twin::must(hipGraphAddKernelNode(&halves[1], graph, nullptr, 0, &odd), "hipGraphAddKernelNode");
  twin::must(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &left), "hipGraphAddMemsetNode");
  twin::must(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &right), "hipGraphAddMemsetNode");
  twin::must(hipGraphAddKernelNode(&last, graph, halves, 2, &more), "hipGraphAddKernelNode");
  for (int i = 0; i < 3; ++i) {
    hipGraphNode_t next;
    twin::must(hipGraphAddKernelNode(&next, graph, &last, 1, &more), "hipGraphAddKernelNode");
    last = next;
  }
  twin::launchGraph(graph, nullptr);
  return twin::compare(twin::fromDevice(data, twin::kCount), [](size_t) { return 11; });
}
