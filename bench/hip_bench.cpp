// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an interposed HIP call costs: directly, through the interposer with tracing off, and traced to files. The HIP
// library is test/hip's fabricated one, whose calls do next to nothing, so the differences are the interposer's.
#include "fake_hip.h"
#include "trace_session.h"

#include <benchmark/benchmark.h>

#include <dlfcn.h>

using namespace wavesan::hip;

namespace {

/// HIP's own function, past the interposed one in this executable.
template <class Function> Function *direct(const char *name) {
  void *library = dlopen(WAVESAN_BENCH_FAKE_HIP, RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Function *>(dlsym(library, name));
}

void directCall(benchmark::State &state) {
  const auto call = direct<int(Stream)>("hipStreamSynchronize");
  for (auto _ : state)
    benchmark::DoNotOptimize(call(nullptr));
}
BENCHMARK(directCall);

void tracingOff(benchmark::State &state) {
  setTracing(false);
  for (auto _ : state)
    benchmark::DoNotOptimize(hipStreamSynchronize(nullptr));
}
BENCHMARK(tracingOff);

template <class Make> void traced(benchmark::State &state, Make make) {
  processTracer().attach(
      [&] {
        std::vector<std::unique_ptr<TraceSink>> sinks;
        sinks.push_back(make(TraceFile("/dev/null")));
        return sinks;
      },
      nullptr);
  setTracing(true);
  Event event = nullptr;
  hipEventCreate(&event);
  hipEventRecord(event, nullptr);
  for (auto _ : state)
    benchmark::DoNotOptimize(hipEventSynchronize(event)); // a wait: the most expensive kind
  hipEventDestroy(event);
  setTracing(false);
  processTracer().detach();
}
BENCHMARK_CAPTURE(traced, csv, [](TraceFile file) { return makeCsvSink(std::move(file), 10); });
BENCHMARK_CAPTURE(traced, json, [](TraceFile file) { return makeJsonSink(std::move(file)); });
BENCHMARK_CAPTURE(traced, perfetto, [](TraceFile file) { return makePerfettoSink(std::move(file)); });

} // namespace

BENCHMARK_MAIN();
