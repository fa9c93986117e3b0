// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A race between two streams in the traces of a checked run, and the dependency graph of a traced one.
//
// RUN: %cc %s -o %t
// RUN: %status 66 %run90a -o trace_json=%t.json:trace_perfetto=%t.pftrace -- %t
// RUN: FileCheck --input-file=%t.json %s
// CHECK: "function":"hipLaunchKernel",{{.*}}"correlation_id":[[FIRST:[0-9]+]],{{.*}}"stream_id":{"handle":1}
// CHECK: "function":"hipLaunchKernel",{{.*}}"correlation_id":[[SECOND:[0-9]+]],{{.*}}"stream_id":{"handle":2}
// CHECK: {"kind":"race","current":{"correlation_id":[[SECOND]],"function":"hipLaunchKernel","stream_id":{"handle":2}},"previous":{"correlation_id":[[FIRST]],
// RUN: grep -a "race of hipLaunchKernel with hipLaunchKernel" %t.pftrace
//
// RUN: %wavesan trace --device=cpu --gpu=gfx90a --format=graph,dot -o %t.run -- %t
// RUN: %python -c "import json, sys; json.load(open(sys.argv[1]))" %t.run.graph.json
// RUN: FileCheck --check-prefix=GRAPH --input-file=%t.run.graph.json %s
// GRAPH: "schema":"wavesan-graph"
// GRAPH: "function":"hipDeviceSynchronize"
// GRAPH: "kind":"wait"
// GRAPH: "critical_path":{"nanoseconds":{{[1-9][0-9]*}},"correlation_ids":[{{[0-9,]+}}]}
// RUN: FileCheck --check-prefix=DOT --input-file=%t.run.dot %s
// DOT: digraph calls {
// DOT: label="hipLaunchKernel\nstream 1,
// DOT: color=red
#include "streams.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  int *data = twin::buffer();
  LAUNCH(twin::set, first, data, 1);
  LAUNCH(twin::set, second, data, 1);
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
}
