// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of a graph that race on a __device__ variable, which lies elsewhere in each process that replays them.
// RUN: rm -rf %t.d
// RUN: %cc %s -o %t %graph
// RUN: %status 66 %run90a --capsule=%t.d --capsule-all -- %t
// The capsule of the dispatch in front of the graph has no race.
// RUN: %status 1 %wavesan replay --device=cpu %t.d > %t.replay 2>&1
// RUN: FileCheck --input-file=%t.replay %s
// CHECK: missing edge 1 -> 2
// CHECK: reproduced: 1 of 1 recorded race, output of 2 of 2 kernels as recorded
#include "record_graph.h"
#include "streams.h"

// One that the host knows, and one that it does not.
__device__ int table[64];
namespace {
__device__ int offset[64];
}
__global__ void setTable(int value) {
  table[threadIdx.x] = value + offset[threadIdx.x];
  offset[threadIdx.x] += 1;
}
__global__ void readTable(int *to) { to[threadIdx.x] = table[threadIdx.x]; }

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t fork = twin::event(), join = twin::event();
  int *out = twin::buffer();
  wavesan_graph_t graph = nullptr;
  wavesan_executable_graph_t executable = nullptr;
  setTable<<<1, 64, 0, first>>>(9); // so that the variables are not what the code object has
  twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
  twin::graph::must(wavesan_graph_begin_capture(first, WAVESAN_GRAPH_CAPTURE_GLOBAL), "begin_capture");
  twin::must(hipEventRecord(fork, first), "hipEventRecord");
  twin::must(hipStreamWaitEvent(second, fork, 0), "hipStreamWaitEvent");
  setTable<<<1, 64, 0, first>>>(3);
  readTable<<<1, 64, 0, second>>>(out);
  twin::must(hipEventRecord(join, second), "hipEventRecord");
  twin::must(hipStreamWaitEvent(first, join, 0), "hipStreamWaitEvent");
  twin::graph::must(wavesan_graph_end_capture(first, &graph), "end_capture");
  twin::graph::must(wavesan_graph_instantiate(graph, nullptr, &executable), "instantiate");
  twin::graph::must(wavesan_graph_append(first, executable, nullptr, 0, nullptr), "append");
  twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
  return 0;
}
