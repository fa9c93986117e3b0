// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels touched in an earlier run - directly, or as nodes of another graph - is known when a graph is instantiated: conflicts without an
// edge are said there, before it runs, and are in dumps. Where a kernel has not run yet nothing is said.
// RUN: %cc %s -o %t %graph
// RUN: %run90a -- %t 2>&1 | FileCheck %s
// CHECK: conflicts before: 0
// CHECK: wavesan: graph 2 is instantiated with a missing edge, 1 -> 2: node 1 (kernel twin::set(int*, int)) and node 2 (kernel twin::add(int const*, int*, int)) both touch 16384 bytes, as in an earlier run, and no path of edges orders them
// CHECK-NOT: graph 2
// CHECK: conflict 1 -> 2, 16384 bytes, seen in run: 1
// CHECK: conflicts with other arguments: 0
// CHECK: result: ok
// CHECK: 0 races
// RUN: %python -B %tools/check_record.py %t.json --kinds kernel,kernel,copy --edges "1-3 2-3" --conflicts "1-2"
// RUN: FileCheck --check-prefix=DOT --input-file=%t.dot %s
// DOT: n1 [label="1: kernel twin::set{{.*}}", color=red];
// DOT: n1 -> n2 [style=dashed, color=red, label="missing: both touch 16384 bytes"]
// Without the check nobody knows what kernels touch, and the dump says that.
// RUN: %run90a -o check_streams=0 -- %t 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// RUN: FileCheck --check-prefix=JSON --input-file=%t.json %s
// UNKNOWN-NOT: conflict 1
// UNKNOWN: result: ok
// JSON: "touchedUnknown": 2,
// JSON-NEXT: "conflicts": [
// JSON-NEXT: ]
#include "record_graph.h"
#include "streams.h"

#include <string>

namespace {

hipStream_t first, second;
hipEvent_t fork, join;

wavesan_graph_t record(int *data, int *out, int *copy) {
  wavesan_graph_t graph = nullptr;
  twin::graph::must(wavesan_graph_begin_capture(first, WAVESAN_GRAPH_CAPTURE_GLOBAL), "begin_capture");
  twin::must(hipEventRecord(fork, first), "hipEventRecord");
  LAUNCH(twin::set, first, data, 5);
  twin::must(hipStreamWaitEvent(second, fork, 0), "hipStreamWaitEvent");
  LAUNCH(twin::add, second, data, out, 1); // reads what the other one writes
  twin::must(hipEventRecord(join, second), "hipEventRecord");
  twin::must(hipStreamWaitEvent(first, join, 0), "hipStreamWaitEvent");
  twin::must(hipMemcpyAsync(copy, out, twin::kBytes, hipMemcpyDeviceToDevice, first), "hipMemcpyAsync");
  twin::graph::must(wavesan_graph_end_capture(first, &graph), "end_capture");
  return graph;
}

int conflicts(wavesan_graph_t graph, bool print) {
  struct Seen {
    bool print;
    int count;
  } seen = {print, 0};
  twin::graph::must(wavesan_graph_visit_conflicts(
                        graph,
                        [](const wavesan_graph_conflict_t *c, void *data) {
                          auto &s = *static_cast<Seen *>(data);
                          ++s.count;
                          if (s.print)
                            std::printf("conflict %d -> %d, %d bytes, seen in run: %u\n", int(c->first), int(c->second), int(c->bytes),
                                        c->seen_in_run);
                          return 0;
                        },
                        &seen),
                    "visit_conflicts");
  return seen.count;
}

void instantiate(wavesan_graph_t graph) {
  wavesan_executable_graph_t executable = nullptr;
  twin::graph::must(wavesan_graph_instantiate(graph, nullptr, &executable), "instantiate");
  twin::graph::must(wavesan_executable_graph_destroy(executable), "executable_graph_destroy");
}

} // namespace

int main(int, char **argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  first = twin::stream();
  second = twin::stream();
  fork = twin::event();
  join = twin::event();
  int *data = twin::buffer(), *out = twin::buffer(), *copy = twin::buffer(), *other = twin::buffer();
  wavesan_graph_t graph = record(data, out, copy);
  instantiate(graph);
  std::printf("conflicts before: %d\n", conflicts(graph, false));
  twin::graph::must(wavesan_graph_destroy(graph), "destroy");
  // The same launches, one after the other.
  LAUNCH(twin::set, first, data, 5);
  LAUNCH(twin::add, first, data, out, 1);
  twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
  graph = record(data, out, copy);
  instantiate(graph);
  conflicts(graph, true);
  const std::string path = argv[0];
  const wavesan_graph_dump_desc_t json = {sizeof json, WAVESAN_GRAPH_DUMP_DETAILED, WAVESAN_GRAPH_DUMP_JSON};
  twin::graph::must(wavesan_graph_dump(graph, (path + ".json").c_str(), &json), "dump");
  twin::graph::must(wavesan_graph_dump(graph, (path + ".dot").c_str(), nullptr), "dump");
  twin::graph::must(wavesan_graph_destroy(graph), "destroy");
  graph = record(other, out, copy);
  std::printf("conflicts with other arguments: %d\n", conflicts(graph, false));
  twin::graph::must(wavesan_graph_destroy(graph), "destroy");
  return twin::expectCounting(out, 6);
}
