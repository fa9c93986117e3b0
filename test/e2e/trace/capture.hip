// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records and waits of a capture are nodes of a graph, not executions; behind it the streams are what they were.
//
// RUN: %cc %s -o %t
// RUN: %trace -o %t.trace -- %t | FileCheck %s
// RUN: %check_trace %t.trace hipStreamWaitEvent=captured,captured,resolved
// RUN: %check_trace %t.trace hipStreamSynchronize=resolved hipGraphLaunch#2
// CHECK: result: ok
//
// RUN: FileCheck --check-prefix=JSON %s < %t.trace.json
// JSON: "function":"hipEventRecord",{{.*}}"capture":1,
// JSON: "function":"hipStreamWaitEvent",{{.*}}"wait_on_correlation_id":0,
// JSON-SAME: "wait":{"kind":"stream_for_event","state":"captured",{{.*}}"capture":1,
#include "twin.h"

__global__ void add(int *data, int value) { data[threadIdx.x] += value; }

int main() {
  constexpr int kThreads = 64;
  hipStream_t first, second, third;
  hipEvent_t fork, join, plain;
  hipGraph_t graph;
  hipGraphExec_t executable;
  int *data, seen[kThreads];
  twin::must(hipMalloc(&data, sizeof seen), "hipMalloc");
  twin::must(hipMemset(data, 0, sizeof seen), "hipMemset");
  for (hipStream_t *stream : {&first, &second, &third})
    twin::must(hipStreamCreate(stream), "hipStreamCreate");
  for (hipEvent_t *event : {&fork, &join, &plain})
    twin::must(hipEventCreate(event), "hipEventCreate");
  twin::must(hipStreamBeginCapture(first, hipStreamCaptureModeThreadLocal), "hipStreamBeginCapture");
  add<<<1, kThreads, 0, first>>>(data, 1);
  twin::must(hipEventRecord(fork, first), "hipEventRecord");
  twin::must(hipStreamWaitEvent(second, fork, 0), "hipStreamWaitEvent"); // second belongs to the capture now
  add<<<1, kThreads, 0, second>>>(data, 2);
  twin::must(hipEventRecord(join, second), "hipEventRecord");
  twin::must(hipStreamWaitEvent(first, join, 0), "hipStreamWaitEvent");
  twin::must(hipStreamEndCapture(first, &graph), "hipStreamEndCapture");
  twin::must(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), "hipGraphInstantiate");
  twin::must(hipGraphLaunch(executable, third), "hipGraphLaunch");
  twin::must(hipGraphLaunch(executable, third), "hipGraphLaunch");
  twin::must(hipEventRecord(plain, third), "hipEventRecord");
  twin::must(hipStreamWaitEvent(first, plain, 0), "hipStreamWaitEvent");
  twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
  twin::must(hipMemcpy(seen, data, sizeof seen, hipMemcpyDeviceToHost), "hipMemcpy");
  for (int value : seen)
    if (value != 6)
      return 1;
  std::puts("result: ok");
}
