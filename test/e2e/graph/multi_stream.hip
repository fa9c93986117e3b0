// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work over four streams, executed directly and recorded and replayed: the same memory, with and without `wavesan run`'s check.
// RUN: %cc %s -o %t %graph
// RUN: %run90a -- %t 2>&1 | FileCheck %s
// RUN: %run1030 -- %t 2>&1 | FileCheck %s
// RUN: %run90a -o check_streams=0 -- %t | FileCheck --check-prefix=ALONE %s
// CHECK-NOT: not completely compared
// CHECK: wavesan: checked {{[1-9][0-9]*}} accesses in 1 kernels: 0 races, {{[0-9]+}} commands in {{[4-9]}} streams compared
// CHECK: result: ok
// ALONE: result: ok
#include "record_graph.h"
#include "streams.h"

namespace {

constexpr int kStreams = 4, kRuns = 3;
hipStream_t streams[kStreams];
hipEvent_t forked, joined[kStreams];
int *data, *parts[kStreams], *result, *onHost;
int hostCalls = 0;
bool recording = false;

/// Each stream makes a part of it, the first one puts them together.
void work() {
  twin::must(hipMemsetAsync(result, 0, twin::kBytes, streams[0]), "hipMemsetAsync");
  LAUNCH(twin::add, streams[0], data, data, 1);
  twin::must(hipEventRecord(forked, streams[0]), "hipEventRecord");
  for (int s = 1; s < kStreams; ++s) {
    twin::must(hipStreamWaitEvent(streams[s], forked, 0), "hipStreamWaitEvent");
    LAUNCH(twin::add, streams[s], data, parts[s], s);
    if (s == 2)
      twin::must(hipMemsetD32Async(parts[s], 7, twin::kCount / 2, streams[s]), "hipMemsetD32Async");
    twin::must(hipEventRecord(joined[s], streams[s]), "hipEventRecord");
  }
  for (int s = 1; s < kStreams; ++s) {
    twin::must(hipStreamWaitEvent(streams[0], joined[s], 0), "hipStreamWaitEvent");
    const int quarter = twin::kCount / kStreams;
    twin::must(hipMemcpyAsync(result + s * quarter, parts[s] + s * quarter, quarter * sizeof(int), hipMemcpyDeviceToDevice,
                              streams[0]),
               "hipMemcpyAsync");
  }
  twin::must(hipMemcpy2DAsync(result, 64, data, 64, 16, 8, hipMemcpyDeviceToDevice, streams[0]), "hipMemcpy2DAsync");
  // HIP 5.2.3 has host functions in graphs only.
  if (recording)
    twin::must(hipLaunchHostFunc(streams[0], [](void *calls) { ++*static_cast<int *>(calls); }, &hostCalls),
               "hipLaunchHostFunc");
  else
    twin::must(hipStreamAddCallback(
                   streams[0], [](hipStream_t, hipError_t, void *calls) { ++*static_cast<int *>(calls); }, &hostCalls, 0),
               "hipStreamAddCallback");
  twin::must(hipMemcpyAsync(onHost, result, twin::kBytes, hipMemcpyDeviceToHost, streams[0]), "hipMemcpyAsync");
}

std::vector<int> all() {
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  std::vector<int> memory(onHost, onHost + twin::kCount);
  for (const int *from : {data, result})
    for (const int x : twin::fromDevice(from, twin::kCount))
      memory.push_back(x);
  for (int s = 1; s < kStreams; ++s)
    for (const int x : twin::fromDevice(parts[s], twin::kCount))
      memory.push_back(x);
  memory.push_back(hostCalls);
  return memory;
}

void reset() {
  hostCalls = 0;
  const std::vector<int> numbers = twin::counting<int>(twin::kCount);
  twin::must(hipMemcpy(data, numbers.data(), twin::kBytes, hipMemcpyHostToDevice), "hipMemcpy");
  for (int s = 1; s < kStreams; ++s)
    twin::must(hipMemset(parts[s], 0x55, twin::kBytes), "hipMemset");
}

} // namespace

int main() {
  for (int s = 0; s < kStreams; ++s) {
    streams[s] = twin::stream();
    joined[s] = twin::event();
    parts[s] = twin::buffer();
  }
  forked = twin::event();
  data = twin::buffer();
  result = twin::buffer();
  onHost = twin::pinned();

  reset();
  for (int run = 0; run < kRuns; ++run) {
    work();
    twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  }
  const std::vector<int> expected = all();

  reset();
  const std::vector<int> before = all();
  twin::graph::must(wavesan_graph_begin_capture(streams[0], WAVESAN_GRAPH_CAPTURE_GLOBAL), "begin_capture");
  recording = true;
  work();
  wavesan_graph_t graph = nullptr;
  twin::graph::must(wavesan_graph_end_capture(streams[0], &graph), "end_capture");
  if (all() != before) {
    std::puts("recording has executed something");
    return 1;
  }
  wavesan_executable_graph_t executable = nullptr;
  twin::graph::must(wavesan_graph_instantiate(graph, nullptr, &executable), "instantiate");
  for (int run = 0; run < kRuns; ++run)
    twin::graph::must(wavesan_graph_append(streams[run], executable, nullptr, 0, nullptr), "append");
  const std::vector<int> replayed = all();
  twin::graph::must(wavesan_executable_graph_destroy(executable), "executable_graph_destroy");
  twin::graph::must(wavesan_graph_destroy(graph), "graph_destroy");
  std::puts(replayed == expected ? "result: ok" : "result: different");
  return replayed != expected;
}
