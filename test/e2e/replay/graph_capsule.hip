// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch of a graph as a capsule: the nodes and edges in one file, each kernel with the memory that it found beside it. The race between
// nodes that no edge orders is there again without the program; without the race nothing is reproduced; damaged files are refused.
// RUN: rm -rf %t.d %t.fixed.d
// RUN: %cc %s -o %t %graph
// RUN: %status 66 %run90a --capsule=%t.d --capsule-all -- %t > %t.log 2>&1
// RUN: FileCheck --check-prefix=FIRST --input-file=%t.log %s
// RUN: %wavesan replay --device=cpu %t.d > %t.replay 2>&1
// RUN: FileCheck --check-prefix=REPLAY --input-file=%t.replay %s
// RUN: %wavesan replay --device=cpu %t.d/graph-*.graph.json
// RUN: %status 0 %wavesan replay --device=cpu --seed=7 %t.d
// RUN: %python -B %tools/check_record.py %t.d/graph-*.graph.json --kinds fill,kernel,copy,kernel --edges "1-2 1-3 2-4" --conflicts "2-3"
// RUN: %status 2 %wavesan replay --device=cpu --minimise %t.d/graph-*.graph.json 2>&1 | FileCheck --check-prefix=MINIMISE %s
//
// RUN: %cc -DFIXED %s -o %t.fixed %graph
// RUN: %run90a --capsule=%t.fixed.d --capsule-all -- %t.fixed
// RUN: %status 1 %wavesan replay --device=cpu %t.fixed.d 2>&1 | FileCheck --check-prefix=FIXED %s
//
// RUN: sed -i 's/"dependencies": \[1\]/"dependencies": [9]/' %t.fixed.d/graph-*.graph.json
// RUN: %status 2 %wavesan replay --device=cpu %t.fixed.d/graph-*.graph.json 2>&1 | FileCheck --check-prefix=DAMAGED %s
// RUN: rm %t.d/*add*.capsule
// RUN: %status 2 %wavesan replay --device=cpu %t.d/graph-*.graph.json 2>&1 | FileCheck --check-prefix=MISSING %s
// RUN: echo x > %t.d/graph-1-1.graph.json
// RUN: %status 2 %wavesan replay --device=cpu %t.d/graph-1-1.graph.json 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: %status 2 %wavesan replay --device=cpu %t.none.graph.json 2>&1 | FileCheck --check-prefix=NOFILE %s
// FIRST: wavesan: capsules: 1 of graph launches written to
// REPLAY: missing edge 2 -> 3
// REPLAY: .graph.json: reproduced: 1 of 1 recorded race, output of 2 of 2 kernels as recorded
// REPLAY-NOT: replay
// MINIMISE: --minimise is for capsules of one dispatch
// FIXED: .graph.json: not reproduced: no race was recorded, 0 found between nodes, output of 2 of 2 kernels as recorded
// DAMAGED: damaged: a dependency
// MISSING: the capsule of dispatch 2 is missing
// NONE: it is no graph, or damaged
// NOFILE: no file that can be read
#include "record_graph.h"
#include "streams.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t fork = twin::event(), join = twin::event(), done = twin::event();
  int *data = twin::buffer(), *out = twin::buffer(), *copy = twin::buffer();
  twin::must(hipMemset(out, 0, twin::kBytes), "hipMemset");
  wavesan_graph_t graph = nullptr;
  wavesan_executable_graph_t executable = nullptr;
  twin::graph::must(wavesan_graph_begin_capture(first, WAVESAN_GRAPH_CAPTURE_GLOBAL), "begin_capture");
  twin::must(hipMemsetD32Async(data, 40, twin::kCount, first), "hipMemsetD32Async"); // 1
  twin::must(hipEventRecord(fork, first), "hipEventRecord");
  LAUNCH(twin::set, first, out, 7); // 2
  twin::must(hipEventRecord(done, first), "hipEventRecord");
  twin::must(hipStreamWaitEvent(second, twin::kFixed ? done : fork, 0), "hipStreamWaitEvent");
  twin::must(hipMemcpyAsync(copy, out, twin::kBytes, hipMemcpyDeviceToDevice, second), "hipMemcpyAsync"); // 3
  LAUNCH(twin::add, first, data, data, 2);                                                                // 4
  twin::must(hipEventRecord(join, second), "hipEventRecord");
  twin::must(hipStreamWaitEvent(first, join, 0), "hipStreamWaitEvent");
  twin::graph::must(wavesan_graph_end_capture(first, &graph), "end_capture");
  twin::graph::must(wavesan_graph_instantiate(graph, nullptr, &executable), "instantiate");
  twin::graph::must(wavesan_graph_append(first, executable, nullptr, 0, nullptr), "append");
  return twin::compare(twin::fromDevice(data, twin::kCount), [](size_t) { return 42; });
}
