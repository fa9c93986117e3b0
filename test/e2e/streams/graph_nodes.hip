// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two nodes of one graph that nothing orders write the same memory. They are not compared with one another yet: that is said, so
// that nobody takes the run for a clean one.
// RUN: %cc %s -o %t
// RUN: %run90a -- %t 2>&1 | FileCheck %s
// CHECK: wavesan: 1 graph launch of which only the kernels were compared, and not with one another
#include "twin.h"

__global__ void add(int *p, int by) { p[threadIdx.x] += by; }

int main() {
  int *p = twin::onDevice(std::vector<int>(64));
  hipGraph_t graph;
  hipGraphExec_t exec;
  twin::must(hipGraphCreate(&graph, 0), "hipGraphCreate");
  int by[2] = {1, 2};
  for (int &b : by) {
    void *arguments[] = {&p, &b};
    hipKernelNodeParams node{};
    node.func = reinterpret_cast<void *>(add);
    node.gridDim = dim3(1);
    node.blockDim = dim3(64);
    node.kernelParams = arguments;
    hipGraphNode_t made;
    twin::must(hipGraphAddKernelNode(&made, graph, nullptr, 0, &node), "hipGraphAddKernelNode");
  }
  twin::must(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), "hipGraphInstantiate");
  twin::must(hipGraphLaunch(exec, nullptr), "hipGraphLaunch");
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
}
