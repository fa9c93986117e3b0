// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch of a graph is the range of a kernel replay: all its nodes, copies and fills included, run three times from the same memory, and the
// program sees one launch. A tool that does not ask for graphs gets the dispatches. A graph with a host function is declined, and its dispatches are
// offered.
// RUN: %build_tool %examples/replay_tools/digests.c -o %t.so
// RUN: %cc %s -o %t %graph
// RUN: env DIGEST_GRAPHS=1 %run90a -o tool=%t.so -- %t > %t.out 2>&1
// RUN: FileCheck --input-file=%t.out %s
// CHECK: digests: saved {{[0-9]+}} bytes in {{[0-9]+}} regions
// CHECK-NEXT: digests: dispatch {{[0-9]+}}, (graph) pass 0 of 3: [[DIGEST:[0-9a-f]+]]{{$}}
// CHECK-NEXT: digests: restored {{[1-9][0-9]*}} bytes
// CHECK-NEXT: digests: dispatch {{[0-9]+}}, (graph) pass 1 of 3: [[DIGEST]]{{$}}
// CHECK-NEXT: digests: restored {{[1-9][0-9]*}} bytes
// CHECK-NEXT: digests: dispatch {{[0-9]+}}, (graph) pass 2 of 3: [[DIGEST]]{{$}}
// CHECK-NEXT: launched
// CHECK: digests: dispatch {{[0-9]+}}, (graph) runs once (host_functions)
// CHECK-COUNT-3: digests: dispatch {{[0-9]+}}, {{.*}}add{{.*}} pass
// CHECK: result: ok
// CHECK: wavesan: checked {{[0-9]+}} accesses in 1 kernels: 0 races
// RUN: %run90a -o tool=%t.so -- %t > %t.out 2>&1
// RUN: FileCheck --check-prefix=DISPATCHES --input-file=%t.out %s
// DISPATCHES-NOT: (graph)
// DISPATCHES: result: ok
#include "record_graph.h"
#include "streams.h"

namespace {

hipStream_t first, second;
hipEvent_t fork, join;
int hostCalls = 0;

wavesan_executable_graph_t record(int *data, int *more, bool host) {
  wavesan_graph_t graph = nullptr;
  wavesan_executable_graph_t executable = nullptr;
  twin::graph::must(wavesan_graph_begin_capture(first, WAVESAN_GRAPH_CAPTURE_GLOBAL), "begin_capture");
  twin::must(hipEventRecord(fork, first), "hipEventRecord");
  LAUNCH(twin::add, first, data, data, 1); // adds again if memory is not restored
  if (host) {
    twin::must(hipLaunchHostFunc(first, [](void *) { ++hostCalls; }, nullptr), "hipLaunchHostFunc");
  } else {
    twin::must(hipStreamWaitEvent(second, fork, 0), "hipStreamWaitEvent");
    twin::must(hipMemsetD32Async(more, 5, twin::kCount, second), "hipMemsetD32Async");
    LAUNCH(twin::add, second, more, more, 2);
    twin::must(hipEventRecord(join, second), "hipEventRecord");
    twin::must(hipStreamWaitEvent(first, join, 0), "hipStreamWaitEvent");
    twin::must(hipMemcpyAsync(more, data, twin::kBytes / 2, hipMemcpyDeviceToDevice, first), "hipMemcpyAsync");
  }
  twin::graph::must(wavesan_graph_end_capture(first, &graph), "end_capture");
  twin::graph::must(wavesan_graph_instantiate(graph, nullptr, &executable), "instantiate");
  twin::graph::must(wavesan_graph_destroy(graph), "destroy");
  return executable;
}

} // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  first = twin::stream();
  second = twin::stream();
  fork = twin::event();
  join = twin::event();
  int *data = twin::onDevice(twin::counting<int>(twin::kCount)), *more = twin::buffer();
  const wavesan_executable_graph_t graph = record(data, more, false), withHost = record(data, more, true);
  twin::graph::must(wavesan_graph_append(first, graph, nullptr, 0, nullptr), "append");
  std::puts("launched");
  twin::graph::must(wavesan_graph_append(first, withHost, nullptr, 0, nullptr), "append");
  twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
  const std::vector<int> a = twin::fromDevice(data, twin::kCount), b = twin::fromDevice(more, twin::kCount);
  for (int i = 0; i < twin::kCount; ++i)
    if (a[i] != 1002 + i || b[i] != (i < twin::kCount / 2 ? 1001 + i : 7) || hostCalls != 1)
      return std::printf("wrong at %d: %d, %d; %d calls\n", i, a[i], b[i], hostCalls), 1;
  std::puts("result: ok");
  return 0;
}
