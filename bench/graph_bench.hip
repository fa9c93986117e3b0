// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What it costs the host to submit N kernels: launched one by one, as a graph by hipGraphLaunch, and as the same graph
// recorded and appended through wavesan/graph.h. Waiting for them is not counted.
#include <wavesan/graph.h>

#include <benchmark/benchmark.h>
#include <hip/hip_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

__global__ void nothing(int) {}

void must(bool good, const char *what) {
  if (good)
    return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(3);
}

hipStream_t stream() {
  static const hipStream_t made = [] {
    hipStream_t s;
    must(hipStreamCreateWithFlags(&s, hipStreamNonBlocking) == hipSuccess, "hipStreamCreateWithFlags");
    return s;
  }();
  return made;
}

template <class Submit> void timed(benchmark::State &state, Submit submit) {
  for (int i = 0; i < 3; ++i)
    submit();
  must(hipStreamSynchronize(stream()) == hipSuccess, "hipStreamSynchronize");
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    submit();
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    must(hipStreamSynchronize(stream()) == hipSuccess, "hipStreamSynchronize");
  }
  state.counters["per_node"] = benchmark::Counter(double(state.range(0)) * double(state.iterations()),
                                                  benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void launches(benchmark::State &state) {
  timed(state, [&] {
    for (int64_t i = 0; i < state.range(0); ++i)
      nothing<<<1, 64, 0, stream()>>>(0);
  });
}

void hipGraph(benchmark::State &state) {
  hipGraph_t graph;
  hipGraphExec_t exec;
  must(hipGraphCreate(&graph, 0) == hipSuccess, "hipGraphCreate");
  hipGraphNode_t last = nullptr;
  for (int64_t i = 0; i < state.range(0); ++i) {
    hipKernelNodeParams params{};
    int argument = 0;
    void *arguments[] = {&argument};
    params.kernelParams = arguments;
    params.func = reinterpret_cast<void *>(nothing);
    params.gridDim = dim3(1);
    params.blockDim = dim3(64);
    hipGraphNode_t node;
    must(hipGraphAddKernelNode(&node, graph, &last, i != 0, &params) == hipSuccess, "hipGraphAddKernelNode");
    last = node;
  }
  must(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == hipSuccess, "hipGraphInstantiate");
  timed(state, [&] { must(hipGraphLaunch(exec, stream()) == hipSuccess, "hipGraphLaunch"); });
}

void append(benchmark::State &state) {
  must(wavesan_graph_begin_capture(stream(), WAVESAN_GRAPH_CAPTURE_GLOBAL) == WAVESAN_GRAPH_SUCCESS, "begin_capture");
  for (int64_t i = 0; i < state.range(0); ++i)
    nothing<<<1, 64, 0, stream()>>>(0);
  wavesan_graph_t graph;
  wavesan_executable_graph_t executable;
  must(wavesan_graph_end_capture(stream(), &graph) == WAVESAN_GRAPH_SUCCESS, "end_capture");
  must(wavesan_graph_instantiate(graph, nullptr, &executable) == WAVESAN_GRAPH_SUCCESS, "instantiate");
  timed(state, [&] {
    must(wavesan_graph_append(stream(), executable, nullptr, 0, nullptr) == WAVESAN_GRAPH_SUCCESS, "append");
  });
}

BENCHMARK(launches)->Arg(1)->Arg(10)->Arg(100)->Arg(1000)->UseManualTime();
BENCHMARK(hipGraph)->Arg(1)->Arg(10)->Arg(100)->Arg(1000)->UseManualTime();
BENCHMARK(append)->Arg(1)->Arg(10)->Arg(100)->Arg(1000)->UseManualTime();

} // namespace

BENCHMARK_MAIN();
