// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a host node of a graph touches has no place among the commands: it is counted and not reported, whatever comes behind the graph.
// RUN: %wavesan cc --check-host --offload-arch=gfx90a -I%include -O2 %s -o %t
// RUN: %run90a -o json_path=%t.json -- %t 2> %t.err
// RUN: FileCheck %s < %t.err
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: %check_formats %t.json
// CHECK-NOT: race:
// CHECK: wavesan: {{[0-9]+}} accesses of host functions not compared with commands: where a graph calls a function
// CHECK: wavesan: checked {{[0-9]+}} accesses in 1 kernels: 0 races
// JSON: "hostFunctionsUnknown": {{[1-9]}}
#include "graphs.h"

#include <atomic>
#include <thread>

namespace {

std::atomic<bool> gate{false};

void fill(void *to) {
  while (!gate)
    std::this_thread::yield();
  for (int i = 0; i < twin::kCount; ++i)
    static_cast<int *>(to)[i] = 3 + i;
}

} // namespace

int main() {
  int *data = twin::pinned(), *out = twin::buffer();
  const hipStream_t stream = twin::stream();
  const hipGraph_t graph = twin::newGraph();
  hipHostNodeParams host{fill, data};
  hipGraphNode_t node;
  twin::must(hipGraphAddHostNode(&node, graph, nullptr, 0, &host), "hipGraphAddHostNode");
  hipGraphExec_t exec;
  twin::must(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), "hipGraphInstantiate");
  twin::must(hipGraphLaunch(exec, stream), "hipGraphLaunch");
  LAUNCH(twin::add, stream, data, out, 2);
  gate = true;
  twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
  return twin::expectCounting(out, 5);
}
