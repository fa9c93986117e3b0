// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// External events on HIP's own library: an event is not ready while the run that signals it has not got there, and a run waits for the
// record that is the latest when it is appended. Kernels with extended launches, copies to and from symbols.
// RUN: %cc %s -o %t %graph
// RUN: %run90a -- %t 2>&1 | FileCheck %s
// CHECK: wavesan: checked 6 accesses in 1 kernels: 0 races
// CHECK: not ready: 600
// CHECK: ready: 0
// CHECK: dump: {{.*}}scale(int*, int)
// CHECK: result: ok
#include "record_graph.h"
#include "streams.h"

#include <hip/hip_ext.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

namespace {

__device__ int factor;
__global__ void scale(int *p, int add) { p[threadIdx.x] = p[threadIdx.x] * factor + add; }

std::atomic<bool> gate{false};
void waitForGate(void *) {
  while (!gate)
    std::this_thread::yield();
}

} // namespace

int main(int, char **argv) {
  const hipStream_t stream = twin::stream(), other = twin::stream();
  int *p = twin::onDevice(std::vector<int>(64, 1));
  int *three = twin::pinned(), *back = twin::pinned();
  *three = 3;
  wavesan_graph_event_t done = nullptr;
  twin::graph::must(wavesan_graph_event_create(WAVESAN_GRAPH_EVENT_EXTERNAL, &done), "event_create");
  const hipEvent_t signal = static_cast<hipEvent_t>(done), start = twin::event();
  wavesan_graph_t graph = nullptr;
  wavesan_executable_graph_t executable = nullptr;
  twin::graph::must(wavesan_graph_begin_capture(stream, WAVESAN_GRAPH_CAPTURE_GLOBAL), "begin_capture");
  twin::graph::must(wavesan_graph_append_wait(stream, start, WAVESAN_GRAPH_EVENT_EXTERNAL), "append_wait");
  twin::must(hipMemcpyToSymbolAsync(HIP_SYMBOL(factor), three, sizeof(int), 0, hipMemcpyHostToDevice, stream),
             "hipMemcpyToSymbolAsync");
  hipExtLaunchKernelGGL(scale, dim3(1), dim3(64), 0, stream, nullptr, nullptr, 0, p, 2);
  twin::must(hipMemcpyFromSymbolAsync(back, HIP_SYMBOL(factor), sizeof(int), 0, hipMemcpyDeviceToHost, stream),
             "hipMemcpyFromSymbolAsync");
  twin::must(hipLaunchHostFunc(stream, waitForGate, nullptr), "hipLaunchHostFunc");
  twin::must(hipEventRecord(signal, stream), "hipEventRecord");
  twin::graph::must(wavesan_graph_end_capture(stream, &graph), "end_capture");
  twin::graph::must(wavesan_graph_instantiate(graph, nullptr, &executable), "instantiate");

  // What the run must wait for.
  scale<<<1, 64, 0, other>>>(p, 5); // factor is 0: all become 5
  twin::must(hipEventRecord(start, other), "hipEventRecord");
  twin::graph::must(wavesan_graph_append(stream, executable, nullptr, 0, nullptr), "append");
  std::printf("not ready: %d\n", int(hipEventQuery(signal)));
  gate = true;
  twin::must(hipEventSynchronize(signal), "hipEventSynchronize");
  std::printf("ready: %d\n", int(hipEventQuery(signal)));
  twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");

  const std::string path = std::string(argv[0]) + ".dot";
  twin::graph::must(wavesan_graph_dump(graph, path.c_str(), nullptr), "dump");
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.find("scale") != std::string::npos)
      std::printf("dump: %s\n", line.c_str());
  twin::graph::must(wavesan_executable_graph_destroy(executable), "executable_graph_destroy");
  twin::graph::must(wavesan_graph_destroy(graph), "destroy");
  twin::graph::must(wavesan_graph_event_destroy(done), "event_destroy");
  if (*back != 3)
    return 1;
  return twin::compare(twin::fromDevice(p, 64), [](size_t) { return 17; });
}
