// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches by <<<>>> return nothing. Those that a recording refuses are known to hipGetLastError, and said by `wavesan run`: in the legacy default
// stream beside a capture, with more LDS than there is, and in a capture that is invalid. What HIP itself says of launches stays right.
// RUN: %cc %s -o %t %graph
// RUN: %run90a -- %t > %t.log 2>&1; FileCheck %s < %t.log
// RUN: FileCheck --check-prefix=OUT %s < %t.log
// CHECK: a graph is being recorded: hipLaunchKernel is refused with 906 (hipErrorStreamCaptureImplicit, {{.*}}) and has no effect
// CHECK: a graph is being recorded: hipLaunchKernel is refused with 2 (hipErrorOutOfMemory, more LDS than the device has) and has no effect
// CHECK: a graph is being recorded: hipLaunchKernel is refused with 901 (hipErrorStreamCaptureInvalidated) and has no effect
// CHECK: 0 races
// OUT: default: 906 0
// OUT: recorded: 0
// OUT: lds: 2 0
// OUT: invalid: 901, end 901
// OUT: direct: 2 0
// OUT: fits: 0 0
// OUT: changed: 2 0
// OUT: value: 9
#include "record_graph.h"
#include "streams.h"

namespace {

__global__ void local(int *p) {
  __shared__ int fixed[8000]; // 32,000 bytes: 33,536 are left
  extern __shared__ int dynamic[];
  fixed[threadIdx.x] = 5;
  dynamic[threadIdx.x] = 4;
  __syncthreads();
  p[threadIdx.x] = fixed[threadIdx.x ^ 1] + dynamic[threadIdx.x ^ 1];
}

constexpr unsigned kFits = 33536, kTooMuch = kFits + 16;

} // namespace

int main() {
  const hipStream_t stream = twin::stream(hipStreamDefault);
  int *p = twin::buffer();
  wavesan_graph_t graph = nullptr;
  twin::graph::must(wavesan_graph_begin_capture(stream, WAVESAN_GRAPH_CAPTURE_GLOBAL), "begin_capture");
  local<<<1, 64>>>(p);
  const int defaultStream = hipGetLastError();
  std::printf("default: %d %d\n", defaultStream, hipGetLastError());
  local<<<1, 64, kFits, stream>>>(p);
  std::printf("recorded: %d\n", hipGetLastError());
  local<<<1, 64, kTooMuch, stream>>>(p);
  const int lds = hipGetLastError();
  std::printf("lds: %d %d\n", lds, hipGetLastError());
  local<<<1, 64, kFits, stream>>>(p);
  const int ended = wavesan_graph_end_capture(stream, &graph);
  const int code = wavesan_graph_hip_error();
  std::printf("invalid: %d, end %d\n", hipGetLastError(), ended == WAVESAN_GRAPH_ERROR_INVALID_GRAPH ? code : 0);

  local<<<1, 64, kTooMuch, stream>>>(p);
  const int direct = hipGetLastError();
  std::printf("direct: %d %d\n", direct, hipGetLastError());

  twin::graph::must(wavesan_graph_begin_capture(stream, WAVESAN_GRAPH_CAPTURE_GLOBAL), "begin_capture");
  local<<<1, 64, kFits, stream>>>(p);
  twin::graph::must(wavesan_graph_end_capture(stream, &graph), "end_capture");
  const wavesan_graph_instantiate_desc_t desc = {sizeof desc, WAVESAN_GRAPH_FLAG_MUTABLE_GRAPH};
  wavesan_executable_graph_t executable = nullptr;
  twin::graph::must(wavesan_graph_instantiate(graph, &desc, &executable), "instantiate");
  twin::graph::must(wavesan_graph_append(stream, executable, nullptr, 0, nullptr), "append");
  std::printf("fits: %d %d\n", hipGetLastError(), hipStreamSynchronize(stream));
  void *arguments[] = {&p};
  wavesan_graph_kernel_params_t kernel = {sizeof kernel, {64, 1, 1}, {64, 1, 1}, kTooMuch, arguments};
  const int tooMuch = wavesan_executable_graph_set_kernel(executable, 1, &kernel) == WAVESAN_GRAPH_ERROR_HIP ? wavesan_graph_hip_error() : 0;
  kernel.group_segment_bytes = kFits;
  std::printf("changed: %d %d\n", tooMuch, int(wavesan_executable_graph_set_kernel(executable, 1, &kernel)));
  twin::graph::must(wavesan_graph_append(stream, executable, nullptr, 0, nullptr), "append");
  twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
  int value = 0;
  twin::must(hipMemcpy(&value, p, sizeof value, hipMemcpyDeviceToHost), "hipMemcpy");
  std::printf("value: %d\n", value);
  twin::graph::must(wavesan_executable_graph_destroy(executable), "executable_destroy");
  twin::graph::must(wavesan_graph_destroy(graph), "destroy");
}
