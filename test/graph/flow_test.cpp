// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The extension's typical flow and its example with an external event, step by step.
#include "graph_fixture.h"

namespace wavesan::graph {

namespace {
using hip::kHipSuccess;
using Flow = GraphTest;
const auto kSuccess = WAVESAN_GRAPH_SUCCESS;
} // namespace

TEST_F(Flow, Typical) {
  wavesan_graph_properties_t properties{};
  properties.size = sizeof properties;
  ASSERT_EQ(wavesan_graph_get_properties(&properties), kSuccess);
  ASSERT_TRUE(properties.flags & WAVESAN_GRAPH_FLAG_IMMUTABLE_GRAPH);
  const Stream s = stream();
  std::vector<long> data = {1};
  wavesan_graph_t graph = nullptr, seen = nullptr;
  ASSERT_EQ(wavesan_graph_create(&graph), kSuccess);
  ASSERT_EQ(wavesan_graph_begin_capture_into(s, graph, WAVESAN_GRAPH_CAPTURE_GLOBAL), kSuccess);
  EXPECT_EQ(launch(s, data, 2, 0), kHipSuccess);
  EXPECT_EQ(wavesan_graph_is_capturing(s), WAVESAN_GRAPH_QUERY_TRUE);
  EXPECT_EQ(wavesan_graph_of_stream(s, &seen), kSuccess);
  EXPECT_EQ(seen, graph);
  EXPECT_EQ(launch(s, data, 1, 1), kHipSuccess);
  EXPECT_EQ(wavesan_graph_end_capture(s, nullptr), kSuccess);
  EXPECT_EQ(wavesan_graph_is_empty(graph), WAVESAN_GRAPH_QUERY_FALSE);
  const wavesan_executable_graph_t executable = instantiated(graph);
  EXPECT_EQ(wavesan_graph_append(s, executable, nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(data[0], 3);
  const std::string path = testing::TempDir() + "wavesan_graph_flow.dot";
  EXPECT_EQ(wavesan_graph_dump(graph, path.c_str(), nullptr), kSuccess);
  std::remove(path.c_str());
  destroy(executable);
  destroy(graph);
}

// An event that was not created as external: each wait and signal says what it is.
TEST_F(Flow, ExternalByAppend) {
  const Stream root = stream(), child = stream(), outside = stream();
  const Event e = event();
  std::vector<long> order, unused = {1};
  struct Step {
    std::vector<long> *order;
    long number;
  };
  Step steps[] = {{&order, 1}, {&order, 2}};
  const auto note = [](void *data) {
    const auto &step = *static_cast<Step *>(data);
    step.order->push_back(step.number);
  };
  ASSERT_EQ(wavesan_graph_begin_capture(root, WAVESAN_GRAPH_CAPTURE_GLOBAL), kSuccess);
  EXPECT_EQ(wavesan_graph_append_wait(root, e, WAVESAN_GRAPH_EVENT_EXTERNAL), kSuccess); // node 1
  EXPECT_EQ(wavesan_graph_append_signal(root, e, 0), kSuccess);
  EXPECT_EQ(wavesan_graph_append_wait(child, e, 0), kSuccess);
  EXPECT_EQ(hipLaunchHostFunc(child, note, &steps[0]), kHipSuccess); // node 2
  EXPECT_EQ(wavesan_graph_append_signal(child, e, 0), kSuccess);
  EXPECT_EQ(wavesan_graph_append_wait(root, e, 0), kSuccess);
  EXPECT_EQ(hipLaunchHostFunc(root, note, &steps[1]), kHipSuccess);                        // node 3
  EXPECT_EQ(wavesan_graph_append_signal(root, e, WAVESAN_GRAPH_EVENT_EXTERNAL), kSuccess); // node 4
  wavesan_graph_t graph = nullptr;
  ASSERT_EQ(wavesan_graph_end_capture(root, &graph), kSuccess);
  std::vector<std::pair<int, size_t>> nodes;
  EXPECT_EQ(wavesan_graph_visit(
                graph,
                [](const wavesan_graph_node_info_t *n, void *out) {
                  static_cast<decltype(nodes) *>(out)->emplace_back(n->kind, n->dependency_count);
                  return 0;
                },
                &nodes),
            kSuccess);
  EXPECT_EQ(nodes, (std::vector<std::pair<int, size_t>>{{WAVESAN_GRAPH_NODE_EVENT_WAIT, 0},
                                                        {WAVESAN_GRAPH_NODE_HOST, 1},
                                                        {WAVESAN_GRAPH_NODE_HOST, 1},
                                                        {WAVESAN_GRAPH_NODE_EVENT_SIGNAL, 1}}));
  const wavesan_executable_graph_t executable = instantiated(graph);
  // Outside of the capture the event is the program's: recorded here, waited for by the run.
  EXPECT_EQ(hipEventRecord(e, outside), kHipSuccess);
  for (int run = 1; run <= 2; ++run) {
    EXPECT_EQ(wavesan_graph_append(root, executable, nullptr, 0, nullptr), kSuccess);
    const FakeGraphCounts now = fakeHipGraphCounts();
    EXPECT_EQ(now.eventWaits, Before.eventWaits + run);
    EXPECT_EQ(now.eventsRecorded, Before.eventsRecorded + run);
  }
  EXPECT_EQ(order, (std::vector<long>{1, 2, 1, 2}));
  fakeHipHold(true); // a run that has not got there yet
  EXPECT_EQ(hipEventQuery(e), hip::kHipErrorNotReady);
  fakeHipHold(false);
  EXPECT_EQ(hipEventQuery(e), kHipSuccess);
  destroy(executable);
  destroy(graph);
}

TEST_F(Flow, ExternalByCreation) {
  const Stream s = stream(), other = stream();
  wavesan_graph_event_t e = nullptr;
  ASSERT_EQ(wavesan_graph_event_create(WAVESAN_GRAPH_EVENT_EXTERNAL, &e), kSuccess);
  std::vector<long> data = {1};
  // HIP's own calls, without flags.
  const wavesan_graph_t graph = recorded(s, [&] {
    EXPECT_EQ(hipStreamWaitEvent(s, static_cast<Event>(e), 0), kHipSuccess);
    launch(s, data, 2, 0);
    EXPECT_EQ(hipEventRecord(static_cast<Event>(e), s), kHipSuccess);
    // It is outside: another stream that waits for it does not become part of the capture.
    EXPECT_EQ(hipStreamWaitEvent(other, static_cast<Event>(e), 0), kHipSuccess);
    EXPECT_EQ(wavesan_graph_is_capturing(other), WAVESAN_GRAPH_QUERY_FALSE);
  });
  EXPECT_EQ(hipEventQuery(static_cast<Event>(e)), hip::kHipErrorNotReady); // not recorded yet
  const wavesan_executable_graph_t executable = instantiated(graph);
  EXPECT_EQ(wavesan_graph_append(s, executable, nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(fakeHipGraphCounts().eventWaits, Before.eventWaits + 1);
  EXPECT_EQ(hipEventQuery(static_cast<Event>(e)), kHipSuccess);
  destroy(executable);
  destroy(graph);
  EXPECT_EQ(wavesan_graph_event_destroy(e), kSuccess);
}

} // namespace wavesan::graph
