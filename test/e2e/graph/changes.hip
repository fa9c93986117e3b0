// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes of an executable graph are changed: shape and arguments of a kernel, a copy, a fill. A change counts for later appends, and not for
// a run that has been appended and not got there. After a change that makes two nodes race, reports name the recorded calls.
// RUN: %cc -DFIXED %s -o %t.fixed %graph
// RUN: %run90a -- %t.fixed 2>&1 | FileCheck --check-prefix=FIXED %s
// RUN: %cc %s -o %t %graph
// RUN: %status 66 %run90a -- %t 2>&1 | FileCheck %s
// FIXED-NOT: not completely compared
// FIXED: 0 races
// FIXED: result: ok
// CHECK: stream-race
// CHECK-NEXT: read of 4 bytes by kernel twin::add
// CHECK: node 4 of a graph{{.*}} at {{.*}}changes.hip:[[# @LINE + 33]]
// CHECK: write of 4 bytes by kernel twin::set
// CHECK: node 2 of a graph{{.*}} at {{.*}}changes.hip:[[# @LINE + 28]]
// CHECK: no path of edges leads from node 2 to node 4
// CHECK: 1 races
#include "record_graph.h"
#include "streams.h"

#include <atomic>
#include <thread>

namespace {

std::atomic<bool> gate{false};
void waitForGate(void *) {
  while (!gate)
    std::this_thread::yield();
}

} // namespace

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t fork = twin::event(), join = twin::event();
  int *a = twin::buffer(), *b = twin::buffer(), *c = twin::buffer(), *d = twin::buffer();
  twin::must(hipMemset(b, 0, twin::kBytes), "hipMemset");
  twin::must(hipMemset(d, 0, twin::kBytes), "hipMemset");
  twin::graph::must(wavesan_graph_begin_capture(first, WAVESAN_GRAPH_CAPTURE_GLOBAL), "begin_capture");
  twin::must(hipLaunchHostFunc(first, waitForGate, nullptr), "hipLaunchHostFunc"); // 1
  twin::must(hipEventRecord(fork, first), "hipEventRecord");
  LAUNCH(twin::set, first, a, 1); // 2
  twin::must(hipStreamWaitEvent(second, fork, 0), "hipStreamWaitEvent");
  twin::must(hipMemsetD32Async(c, 4, twin::kCount, second), "hipMemsetD32Async"); // 3
  LAUNCH(twin::add, second, c, d, 3);                                             // 4
  twin::must(hipEventRecord(join, second), "hipEventRecord");
  twin::must(hipStreamWaitEvent(first, join, 0), "hipStreamWaitEvent");
  twin::must(hipMemcpyAsync(b, a, twin::kBytes, hipMemcpyDeviceToDevice, first), "hipMemcpyAsync"); // 5
  wavesan_graph_t graph = nullptr;
  twin::graph::must(wavesan_graph_end_capture(first, &graph), "end_capture");
  const wavesan_graph_instantiate_desc_t desc = {sizeof desc, WAVESAN_GRAPH_FLAG_MUTABLE_GRAPH};
  wavesan_executable_graph_t executable = nullptr;
  twin::graph::must(wavesan_graph_instantiate(graph, &desc, &executable), "instantiate");
  twin::graph::must(wavesan_graph_destroy(graph), "destroy");

  // The run that is under way keeps what it was appended with.
  std::thread append([&] { twin::graph::must(wavesan_graph_append(first, executable, nullptr, 0, nullptr), "append"); });
  append.join();
  int value = 100;
  void *setArguments[] = {&a, &value};
  // Half as many workgroups, and another value.
  const wavesan_graph_kernel_params_t set = {sizeof set, {twin::kCount / 2, 1, 1}, {twin::kGroup, 1, 1}, 0, setArguments};
  twin::graph::must(wavesan_executable_graph_set_kernel(executable, 2, &set), "set_kernel");
  gate = true;
  twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
  const std::vector<int> before = twin::fromDevice(b, twin::kCount);
  if (before[0] != 1 || before[twin::kCount - 1] != twin::kCount)
    return std::puts("the run that was under way has been changed"), 1;

  const wavesan_graph_fill_params_t fill = {sizeof fill, c, 9, 4, twin::kCount / 2};
  twin::graph::must(wavesan_executable_graph_set_fill(executable, 3, &fill), "set_fill");
  const wavesan_graph_copy_params_t copy = {sizeof copy, b + twin::kCount / 2, a, twin::kBytes / 2, hipMemcpyDeviceToDevice};
  twin::graph::must(wavesan_executable_graph_set_copy(executable, 5, &copy), "set_copy");
  if (!twin::kFixed) { // node 4 reads what node 2 writes
    int three = 3;
    void *addArguments[] = {&a, &d, &three};
    const wavesan_graph_kernel_params_t add = {sizeof add, {twin::kCount, 1, 1}, {twin::kGroup, 1, 1}, 0, addArguments};
    twin::graph::must(wavesan_executable_graph_set_kernel(executable, 4, &add), "set_kernel");
  }
  twin::graph::must(wavesan_graph_append(first, executable, nullptr, 0, nullptr), "append");
  twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
  const std::vector<int> out = twin::fromDevice(d, twin::kCount), moved = twin::fromDevice(b, twin::kCount);
  twin::graph::must(wavesan_executable_graph_destroy(executable), "executable_graph_destroy");
  if (!twin::kFixed)
    return 0;
  for (int i = 0; i < twin::kCount; ++i) {
    const int half = twin::kCount / 2;
    if (out[i] != (i < half ? 12 : 7) || moved[i] != (i < half ? 1 + i : 100 + i - half))
      return std::printf("wrong at %d: %d, %d\n", i, out[i], moved[i]), 1;
  }
  std::puts("result: ok");
  return 0;
}
