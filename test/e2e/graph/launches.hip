// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every form of launch that is recorded, kernels of modules among them, and copies and fills of three dimensions, on HIP's own library: directly
// and by a graph they leave the same memory. What HIP 5.2.3 has no nodes for is refused.
// RUN: %wavesan cc -x hip --offload-arch=gfx90a -O2 -DMODULE -I%include --cuda-device-only --no-gpu-bundle-output %s -o %t.co
// RUN: %cc %s -o %t %graph
// RUN: %run90a -- %t %t.co 2>&1 | FileCheck %s
// CHECK: refused: 900, 900, 900
// CHECK: nodes: hipModuleLaunchKernel scale, hipModuleLaunchKernel scale, hipExtModuleLaunchKernel scale, hipExtLaunchKernel {{.*}}add{{.*}}, hipMemset3DAsync hipMemset3DAsync, hipMemset2DAsync hipMemset2DAsync, hipMemcpy3DAsync hipMemcpy3DAsync,
// CHECK: result: ok
// CHECK: 0 races
#ifdef MODULE
#include <hip/hip_runtime.h>
extern "C" __global__ void scale(int *p, int factor, int add) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = p[i] * factor + add;
}
#else
#include "record_graph.h"
#include "streams.h"

#include <hip/hip_ext.h>

namespace {

hipStream_t first, second;
hipEvent_t before, after, done;
hipFunction_t scale;
int *a, *b, *c, *box;
constexpr unsigned kGroups = twin::kCount / twin::kGroup;

void work() {
  int two = 2, one = 1;
  void *arguments[] = {&a, &two, &one};
  twin::must(hipModuleLaunchKernel(scale, kGroups, 1, 1, twin::kGroup, 1, 1, 0, first, arguments, nullptr), "hipModuleLaunchKernel");
  struct {
    int *p;
    int factor, add;
  } buffer = {b, 3, 2};
  size_t bytes = sizeof buffer;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
  twin::must(hipModuleLaunchKernel(scale, kGroups, 1, 1, twin::kGroup, 1, 1, 0, first, nullptr, extra), "hipModuleLaunchKernel");
  buffer = {nullptr, 0, 0}; // what was recorded is a copy
  two = 5;
  twin::must(hipExtModuleLaunchKernel(scale, twin::kCount, 1, 1, twin::kGroup, 1, 1, 0, first, arguments, nullptr, before, after, 0),
             "hipExtModuleLaunchKernel");
  two = one = 0;
  twin::must(hipStreamWaitEvent(second, after, 0), "hipStreamWaitEvent");
  hipExtLaunchKernelGGL(twin::add, dim3(kGroups), dim3(twin::kGroup), 0, second, nullptr, done, 0, a, c, 4);
  twin::must(hipStreamWaitEvent(first, done, 0), "hipStreamWaitEvent");
  // 16 x 16 x 16 ints.
  twin::must(hipMemset3DAsync(make_hipPitchedPtr(box, 64, 64, 16), 7, make_hipExtent(64, 16, 16), first), "hipMemset3DAsync");
  twin::must(hipMemset2DAsync(box + 8, 64, 5, 12, 9, first), "hipMemset2DAsync");
  hipMemcpy3DParms copy = {};
  copy.srcPtr = make_hipPitchedPtr(c, 64, 64, 16);
  copy.srcPos = make_hipPos(16, 2, 1);
  copy.dstPtr = make_hipPitchedPtr(box, 64, 64, 16);
  copy.dstPos = make_hipPos(0, 1, 3);
  copy.extent = make_hipExtent(32, 5, 4);
  copy.kind = hipMemcpyDeviceToDevice;
  twin::must(hipMemcpy3DAsync(&copy, first), "hipMemcpy3DAsync");
}

std::vector<int> all() {
  std::vector<int> memory;
  for (const int *from : {a, b, c, box})
    for (const int x : twin::fromDevice(from, twin::kCount))
      memory.push_back(x);
  return memory;
}
void reset() {
  const std::vector<int> numbers = twin::counting<int>(twin::kCount);
  for (int *to : {a, b, c, box})
    twin::must(hipMemcpy(to, numbers.data(), twin::kBytes, hipMemcpyHostToDevice), "hipMemcpy");
}

template <class Call> int refused(Call call) {
  twin::graph::must(wavesan_graph_begin_capture(first, WAVESAN_GRAPH_CAPTURE_GLOBAL), "begin_capture");
  const int code = int(call());
  if (hipGetLastError() != code)
    std::exit(4);
  wavesan_graph_t graph = nullptr;
  if (wavesan_graph_end_capture(first, &graph) != WAVESAN_GRAPH_ERROR_INVALID_GRAPH || wavesan_graph_hip_error() != 901)
    std::exit(3);
  return code;
}

} // namespace

int main(int, char **argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  hipModule_t module;
  twin::must(hipModuleLoad(&module, argv[1]), "hipModuleLoad");
  twin::must(hipModuleGetFunction(&scale, module, "scale"), "hipModuleGetFunction");
  first = twin::stream();
  second = twin::stream();
  before = twin::event();
  after = twin::event();
  done = twin::event();
  for (int **p : {&a, &b, &c, &box})
    *p = twin::buffer();
  int four = 4;
  void *arguments[] = {&a, &c, &four}, *memory = nullptr;
  std::printf("refused: %d, %d, %d\n", refused([&] { return hipMallocAsync(&memory, 64, first); }),
              refused([&] { return hipFreeAsync(a, first); }), refused([&] {
                return hipLaunchCooperativeKernel(reinterpret_cast<void *>(twin::add), dim3(1), dim3(64), arguments, 0, first);
              }));
  reset();
  work();
  work();
  const std::vector<int> expected = all();
  reset();
  wavesan_graph_t graph = nullptr;
  wavesan_executable_graph_t executable = nullptr;
  twin::graph::must(wavesan_graph_begin_capture(first, WAVESAN_GRAPH_CAPTURE_GLOBAL), "begin_capture");
  work();
  twin::graph::must(wavesan_graph_end_capture(first, &graph), "end_capture");
  std::printf("nodes:");
  twin::graph::must(wavesan_graph_visit(
                        graph,
                        [](const wavesan_graph_node_info_t *n, void *) {
                          std::printf(" %s %s,", n->function, n->name);
                          return 0;
                        },
                        nullptr),
                    "visit");
  std::puts("");
  twin::graph::must(wavesan_graph_instantiate(graph, nullptr, &executable), "instantiate");
  for (int run = 0; run < 2; ++run)
    twin::graph::must(wavesan_graph_append(first, executable, nullptr, 0, nullptr), "append");
  const std::vector<int> replayed = all();
  for (size_t i = 0; i < expected.size(); ++i)
    if (replayed[i] != expected[i])
      return std::printf("%zu: %d in place of %d\n", i, replayed[i], expected[i]), 1;
  std::puts("result: ok");
  twin::graph::must(wavesan_executable_graph_destroy(executable), "executable_graph_destroy");
  twin::graph::must(wavesan_graph_destroy(graph), "destroy");
  return 0;
}
#endif
