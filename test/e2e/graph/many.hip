// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph of a thousand nodes, and a thousand appends of a small one without growth.
// A sanitizer keeps what is freed for a while, which looks like growth.
// UNSUPPORTED: sanitized
// RUN: %cc %s -o %t %graph
// RUN: %run90a -- %t 2>&1 | FileCheck %s
// CHECK-NOT: not completely compared
// CHECK: 0 races
// CHECK: 1000 nodes
// CHECK: result: ok
#include "record_graph.h"
#include "streams.h"

#include <unistd.h>

namespace {

__global__ void increment(int *p) { p[threadIdx.x] += 1; }

/// Pages that the process holds.
long residentPages() {
  long size = 0, resident = 0;
  std::FILE *file = std::fopen("/proc/self/statm", "r");
  if (!file || std::fscanf(file, "%ld %ld", &size, &resident) != 2)
    std::exit(3);
  std::fclose(file);
  return resident;
}

int count(const wavesan_graph_node_info_t *, void *nodes) {
  ++*static_cast<int *>(nodes);
  return 0;
}

} // namespace

int main() {
  const hipStream_t stream = twin::stream();
  int *p = twin::onDevice(std::vector<int>(64));
  wavesan_graph_t graph = nullptr;
  wavesan_executable_graph_t thousand = nullptr, one = nullptr;
  for (const int nodes : {1000, 1}) {
    twin::graph::must(wavesan_graph_begin_capture(stream, WAVESAN_GRAPH_CAPTURE_GLOBAL), "begin_capture");
    for (int i = 0; i < nodes; ++i)
      increment<<<1, 64, 0, stream>>>(p);
    twin::graph::must(wavesan_graph_end_capture(stream, &graph), "end_capture");
    int seen = 0;
    twin::graph::must(wavesan_graph_visit(graph, count, &seen), "visit");
    std::printf("%d nodes\n", seen);
    twin::graph::must(wavesan_graph_instantiate(graph, nullptr, nodes == 1 ? &one : &thousand), "instantiate");
    twin::graph::must(wavesan_graph_destroy(graph), "destroy");
  }
  twin::graph::must(wavesan_graph_append(stream, thousand, nullptr, 0, nullptr), "append");
  const auto append = [&](int times) {
    for (int i = 0; i < times; ++i) {
      twin::graph::must(wavesan_graph_append(stream, one, nullptr, 0, nullptr), "append");
      if (i % 50 == 0)
        twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
    }
    twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
  };
  append(500); // what HIP and the agent keep for later
  const long before = residentPages();
  append(1000);
  const long grown = (residentPages() - before) * sysconf(_SC_PAGESIZE);
  if (grown > 1 << 20) {
    std::printf("%ld bytes more after 1000 appends\n", grown);
    return 1;
  }
  twin::graph::must(wavesan_executable_graph_destroy(one), "executable_graph_destroy");
  twin::graph::must(wavesan_executable_graph_destroy(thousand), "executable_graph_destroy");
  return twin::compare(twin::fromDevice(p, 64), [](size_t) { return 2500; });
}
