// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Eight threads record, instantiate and append graphs of the same kernels at a time, while others launch them directly: each gets its own results, and no
// race is reported. HIP 5.2.3 alone mixes their arguments.
// RUN: %cc %s -o %t %graph
// RUN: %run90a -o incomplete_exitcode=0 -- %t > %t.log 2> %t.err
// RUN: FileCheck %s < %t.log
// RUN: FileCheck --check-prefix=ERR %s < %t.err
// CHECK: result: ok
// ERR: 0 races
#include "record_graph.h"
#include "streams.h"

#include <atomic>
#include <thread>

int main() {
  std::atomic<size_t> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&wrong, t] {
      const hipStream_t stream = twin::stream(), other = twin::stream();
      const hipEvent_t fork = twin::event(), join = twin::event();
      int *a = twin::buffer(), *b = twin::buffer(), *c = twin::buffer();
      for (int round = 0; round < 5; ++round) {
        const int value = t * 100 + round;
        const auto work = [&] {
          LAUNCH(twin::set, stream, a, value);
          twin::must(hipEventRecord(fork, stream), "hipEventRecord");
          twin::must(hipStreamWaitEvent(other, fork, 0), "hipStreamWaitEvent");
          LAUNCH(twin::add, stream, a, b, 1);
          LAUNCH(twin::add, other, a, c, 2);
          twin::must(hipEventRecord(join, other), "hipEventRecord");
          twin::must(hipStreamWaitEvent(stream, join, 0), "hipStreamWaitEvent");
          LAUNCH(twin::add, stream, c, a, 3);
        };
        if (t % 4 == 3) {
          work();
        } else {
          twin::graph::must(wavesan_graph_begin_capture(stream, WAVESAN_GRAPH_CAPTURE_THREAD_LOCAL), "begin_capture");
          work();
          wavesan_graph_t graph = nullptr;
          wavesan_executable_graph_t executable = nullptr;
          twin::graph::must(wavesan_graph_end_capture(stream, &graph), "end_capture");
          twin::graph::must(wavesan_graph_instantiate(graph, nullptr, &executable), "instantiate");
          twin::graph::must(wavesan_graph_append(stream, executable, nullptr, 0, nullptr), "append");
          twin::graph::must(wavesan_graph_append(stream, executable, nullptr, 0, nullptr), "append");
          twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
          twin::graph::must(wavesan_executable_graph_destroy(executable), "executable_destroy");
          twin::graph::must(wavesan_graph_destroy(graph), "destroy");
        }
        std::vector<int> values[3];
        for (int k = 0; k < 3; ++k) {
          values[k].resize(twin::kCount);
          twin::must(hipMemcpyAsync(values[k].data(), k == 0 ? a : k == 1 ? b : c, twin::kBytes, hipMemcpyDeviceToHost, stream), "hipMemcpyAsync");
        }
        twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
        for (int i = 0; i < twin::kCount; ++i)
          wrong += values[0][i] != value + i + 5 || values[1][i] != value + i + 1 || values[2][i] != value + i + 2;
      }
    });
  for (std::thread &t : threads)
    t.join();
  return twin::verdict(wrong);
}
