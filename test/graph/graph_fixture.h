// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef WAVESAN_TEST_GRAPH_FIXTURE_H
#define WAVESAN_TEST_GRAPH_FIXTURE_H

#include "fake_hip_graph.h"
#include "hip_functions.h"

#include "wavesan/graph.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace wavesan::graph {

/// to[i] = to[i] * factor + add, for each of `count` elements.
inline const FakeKernel kMulAdd = {[](const unsigned long *a) {
                                     auto *to = reinterpret_cast<long *>(a[0]);
                                     for (unsigned long i = 0; i < a[1]; ++i)
                                       to[i] = to[i] * long(a[2]) + long(a[3]);
                                   },
                                   4};

/// Streams and events for a test, and nothing left over behind it.
class GraphTest : public testing::Test {
protected:
  void SetUp() override { Before = fakeHipGraphCounts(); }
  void TearDown() override {
    for (const auto &undo : Undo)
      undo();
    const FakeGraphCounts after = fakeHipGraphCounts();
    EXPECT_EQ(after.graphs, Before.graphs);
    EXPECT_EQ(after.execs, Before.execs);
    EXPECT_EQ(after.nodes, Before.nodes);
    void *memory = nullptr; // nothing is recorded any more: else this would be refused
    EXPECT_EQ(hipMalloc(&memory, 1), hip::kHipSuccess);
    EXPECT_EQ(hipFree(memory), hip::kHipSuccess);
  }

  Stream stream(unsigned flags = hip::kStreamNonBlocking) {
    Stream s = nullptr;
    EXPECT_EQ(hipStreamCreateWithFlags(&s, flags), hip::kHipSuccess);
    Undo.push_back([s] { EXPECT_EQ(hipStreamDestroy(s), hip::kHipSuccess); });
    return s;
  }
  Event event() {
    Event e = nullptr;
    EXPECT_EQ(hipEventCreate(&e), hip::kHipSuccess);
    Undo.push_back([e] { EXPECT_EQ(hipEventDestroy(e), hip::kHipSuccess); });
    return e;
  }
  /// data = data * factor + add.
  static int launch(Stream s, std::vector<long> &data, long factor, long add) {
    void *to = data.data();
    unsigned long count = data.size();
    void *arguments[] = {&to, &count, &factor, &add};
    return hipLaunchKernel(&kMulAdd, {2, 1, 1}, {4, 1, 1}, arguments, 16, s);
  }
  static wavesan_graph_t recorded(Stream s, const std::function<void()> &work) {
    EXPECT_EQ(wavesan_graph_begin_capture(s, WAVESAN_GRAPH_CAPTURE_GLOBAL), WAVESAN_GRAPH_SUCCESS);
    work();
    wavesan_graph_t graph = nullptr;
    EXPECT_EQ(wavesan_graph_end_capture(s, &graph), WAVESAN_GRAPH_SUCCESS);
    return graph;
  }
  static wavesan_executable_graph_t instantiated(wavesan_graph_t graph) {
    wavesan_executable_graph_t executable = nullptr;
    EXPECT_EQ(wavesan_graph_instantiate(graph, nullptr, &executable), WAVESAN_GRAPH_SUCCESS);
    return executable;
  }
  static void destroy(wavesan_executable_graph_t executable) {
    EXPECT_EQ(wavesan_executable_graph_destroy(executable), WAVESAN_GRAPH_SUCCESS);
  }
  static void destroy(wavesan_graph_t graph) { EXPECT_EQ(wavesan_graph_destroy(graph), WAVESAN_GRAPH_SUCCESS); }

  FakeGraphCounts Before{};
  std::vector<std::function<void()>> Undo;
};

/// The result of a call, and the code of HIP that goes with it.
#define EXPECT_GRAPH(Call, Result, HipCode)                                                                            \
  do {                                                                                                                 \
    EXPECT_EQ(Call, Result);                                                                                           \
    EXPECT_EQ(wavesan_graph_hip_error(), HipCode);                                                                     \
  } while (false)

} // namespace wavesan::graph

#endif // WAVESAN_TEST_GRAPH_FIXTURE_H
