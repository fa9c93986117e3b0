// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies from and to variables and a kernel without arguments are recorded. Copies between pageable host memory and fills that HIP 5.2.3 cannot do are refused, and what a
// kernel launched by `extra` gets cannot be changed. Conflicts know registered host memory at both addresses, and atomics of too small a scope.
// RUN: %wavesan cc -x hip --offload-arch=gfx90a -O2 -DMODULE -I%include --cuda-device-only --no-gpu-bundle-output %s -o %t.co
// RUN: %cc %s -o %t %graph
// RUN: %status 66 %run90a -- %t %t.co > %t.log
// RUN: FileCheck %s < %t.log
// CHECK: pageable: 900 901
// CHECK: narrow: 900 901
// CHECK: extra: 7 801
// CHECK: values: 9 8 7 5
// CHECK: registered: 1 conflicts
// CHECK: atomics of a workgroup: 1 conflicts
// CHECK: atomics of the device: 0 conflicts
#ifdef MODULE
#include <hip/hip_runtime.h>
extern "C" __global__ void scale(int *p, int factor, int add) {
  p[threadIdx.x] = p[threadIdx.x] * factor + add;
}
#else
#include "record_graph.h"
#include "streams.h"

#include <functional>

namespace {

__device__ int variable[4] = {1, 2, 3, 4};

__global__ void noArguments() {
  if (threadIdx.x == 0)
    variable[3] = 5;
}
template <int Scope> __global__ void count(int *p) {
  __hip_atomic_fetch_add(p, 1, __ATOMIC_RELAXED, Scope);
}

hipStream_t first, second;

wavesan_graph_t recorded(const std::function<void()> &work) {
  twin::graph::must(wavesan_graph_begin_capture(first, WAVESAN_GRAPH_CAPTURE_GLOBAL), "begin_capture");
  work();
  wavesan_graph_t graph = nullptr;
  twin::graph::must(wavesan_graph_end_capture(first, &graph), "end_capture");
  return graph;
}
void refused(const char *what, const std::function<int()> &call) {
  twin::graph::must(wavesan_graph_begin_capture(first, WAVESAN_GRAPH_CAPTURE_GLOBAL), "begin_capture");
  const int code = call();
  wavesan_graph_t graph = nullptr;
  const int result = wavesan_graph_end_capture(first, &graph);
  std::printf("%s: %d %d\n", what, code, result == WAVESAN_GRAPH_ERROR_INVALID_GRAPH ? wavesan_graph_hip_error() : 0);
  (void)hipGetLastError();
}
void run(wavesan_graph_t graph) {
  wavesan_executable_graph_t executable = nullptr;
  twin::graph::must(wavesan_graph_instantiate(graph, nullptr, &executable), "instantiate");
  twin::graph::must(wavesan_graph_append(first, executable, nullptr, 0, nullptr), "append");
  twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
  twin::graph::must(wavesan_executable_graph_destroy(executable), "executable_destroy");
}
/// `one` and `two` side by side, after both have run.
void conflicts(const char *what, const std::function<void(hipStream_t)> &one, const std::function<void(hipStream_t)> &two) {
  const hipEvent_t fork = twin::event(), join = twin::event();
  const wavesan_graph_t graph = recorded([&] {
    twin::must(hipEventRecord(fork, first), "hipEventRecord");
    twin::must(hipStreamWaitEvent(second, fork, 0), "hipStreamWaitEvent");
    one(first);
    two(second);
    twin::must(hipEventRecord(join, second), "hipEventRecord");
    twin::must(hipStreamWaitEvent(first, join, 0), "hipStreamWaitEvent");
  });
  run(graph);
  int found = 0;
  twin::graph::must(wavesan_graph_visit_conflicts(
                        graph, [](const wavesan_graph_conflict_t *, void *n) { return ++*static_cast<int *>(n), 0; }, &found),
                    "visit_conflicts");
  std::printf("%s: %d conflicts\n", what, found);
  twin::graph::must(wavesan_graph_destroy(graph), "destroy");
}

} // namespace

int main(int, char **argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  hipModule_t module;
  hipFunction_t scale;
  twin::must(hipModuleLoad(&module, argv[1]), "hipModuleLoad");
  twin::must(hipModuleGetFunction(&scale, module, "scale"), "hipModuleGetFunction");
  first = twin::stream();
  second = twin::stream();
  int *device = twin::buffer();
  twin::must(hipMemset(device, 0, twin::kBytes), "hipMemset");
  std::vector<int> pageable(twin::kCount), more(twin::kCount);
  refused("pageable", [&] { return int(hipMemcpyAsync(more.data(), pageable.data(), 64, hipMemcpyHostToHost, first)); });
  refused("narrow", [&] { return int(hipMemset2DAsync(device, 12, 1, 3, 4, first)); });

  struct {
    int *p;
    int factor, add;
  } buffer = {device, 0, 9};
  size_t bytes = sizeof buffer;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
  int two[2] = {8, 7}, back[4] = {};
  const wavesan_graph_t graph = recorded([&] {
    twin::must(hipModuleLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, first, nullptr, extra), "hipModuleLaunchKernel");
    twin::must(hipMemcpyToSymbolAsync(HIP_SYMBOL(variable), device, sizeof(int), 0, hipMemcpyDeviceToDevice, first), "hipMemcpyToSymbolAsync");
    twin::must(hipMemcpyToSymbolAsync(HIP_SYMBOL(variable), two, sizeof two, sizeof(int), hipMemcpyHostToDevice, first), "hipMemcpyToSymbolAsync");
    twin::must(hipLaunchKernel(reinterpret_cast<const void *>(noArguments), dim3(1), dim3(64), nullptr, 0, first), "hipLaunchKernel");
    twin::must(hipMemcpyFromSymbolAsync(back, HIP_SYMBOL(variable), sizeof back, 0, hipMemcpyDeviceToHost, first), "hipMemcpyFromSymbolAsync");
  });
  const wavesan_graph_instantiate_desc_t desc = {sizeof desc, WAVESAN_GRAPH_FLAG_MUTABLE_GRAPH};
  wavesan_executable_graph_t executable = nullptr;
  twin::graph::must(wavesan_graph_instantiate(graph, &desc, &executable), "instantiate");
  void *arguments[] = {&device, &two[0], &two[1]};
  const wavesan_graph_kernel_params_t kernel = {sizeof kernel, {64, 1, 1}, {64, 1, 1}, 0, arguments};
  const int changed = wavesan_executable_graph_set_kernel(executable, 1, &kernel);
  std::printf("extra: %d %d\n", changed, wavesan_graph_hip_error());
  twin::graph::must(wavesan_graph_append(first, executable, nullptr, 0, nullptr), "append");
  twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
  std::printf("values: %d %d %d %d\n", back[0], back[1], back[2], back[3]);

  int *registered = nullptr;
  twin::must(hipHostRegister(pageable.data(), twin::kBytes, hipHostRegisterMapped), "hipHostRegister");
  twin::must(hipHostGetDevicePointer(reinterpret_cast<void **>(&registered), pageable.data(), 0), "hipHostGetDevicePointer");
  conflicts("registered", [&](hipStream_t s) { LAUNCH(twin::set, s, registered, 1); },
            [&](hipStream_t s) { twin::must(hipMemcpyAsync(device, pageable.data(), twin::kBytes, hipMemcpyHostToDevice, s), "hipMemcpyAsync"); });
  conflicts("atomics of a workgroup", [&](hipStream_t s) { count<__HIP_MEMORY_SCOPE_WORKGROUP><<<1, 64, 0, s>>>(device); },
            [&](hipStream_t s) { count<__HIP_MEMORY_SCOPE_WORKGROUP><<<1, 32, 0, s>>>(device); });
  conflicts("atomics of the device", [&](hipStream_t s) { count<__HIP_MEMORY_SCOPE_AGENT><<<1, 64, 0, s>>>(device + 1); },
            [&](hipStream_t s) { count<__HIP_MEMORY_SCOPE_AGENT><<<1, 32, 0, s>>>(device + 1); });
}
#endif
