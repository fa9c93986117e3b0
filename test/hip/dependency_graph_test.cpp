// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dependency_graph.h"

#include <gtest/gtest.h>

namespace wavesan::hip {
namespace {

struct DependencyGraphTest : testing::Test {
  DependencyGraph graph;

  CallRecord call(CallId id, uint64_t number, StreamId stream, uint64_t begin, uint64_t end) {
    CallRecord c;
    c.id = id;
    c.thread = 1;
    c.correlation = number;
    c.clock.stream = stream;
    c.begin = begin;
    c.end = end;
    return c;
  }
  CallRecord waits(CallRecord c, WaitKind kind, uint64_t producer) {
    c.waitKind = kind;
    c.wait.state = WaitState::Resolved;
    c.wait.producer.correlation = producer;
    return c;
  }
  std::string edges() const {
    std::string text;
    for (const DependencyGraph::Edge &e : graph.edges())
      text += std::to_string(graph.nodes()[e.from].id) + ">" + std::to_string(graph.nodes()[e.to].id) + ":" +
              name(e.kind) + " ";
    return text;
  }
};

} // namespace

TEST_F(DependencyGraphTest, ThreadsStreamsAndWaitsAreEdges) {
  graph.call(call(CallId::hipLaunchKernel, 1, 1, 0, 10));
  graph.call(call(CallId::hipEventRecord, 2, 1, 10, 20));
  graph.call(waits(call(CallId::hipStreamWaitEvent, 3, 2, 20, 30), WaitKind::StreamForEvent, 2));
  graph.call(call(CallId::hipMalloc, 4, 0, 30, 40)); // neither
  graph.call(call(CallId::hipLaunchKernel, 5, 2, 40, 50));
  graph.call(waits(call(CallId::hipStreamSynchronize, 6, 2, 50, 90), WaitKind::HostForStream, 5));
  EXPECT_EQ(edges(), "1>2:stream 2>3:event 3>5:stream 5>6:wait ");
}

TEST_F(DependencyGraphTest, ADeviceIsWaitedForByTheLastOfEachStream) {
  graph.stream({1, StreamKind::Created, 0, true, 0});
  graph.stream({2, StreamKind::Created, 1, true, 0});
  graph.call(call(CallId::hipLaunchKernel, 1, 1, 0, 10));
  graph.call(call(CallId::hipLaunchKernel, 2, 2, 10, 20));
  CallRecord sync = call(CallId::hipDeviceSynchronize, 3, 0, 20, 60);
  sync.waitKind = WaitKind::HostForDevice;
  sync.device = 0;
  graph.call(sync);
  EXPECT_EQ(edges(), "1>2:thread 2>3:thread 1>3:wait ");
}

TEST_F(DependencyGraphTest, TheCriticalPathIsTheLongestChain) {
  graph.call(call(CallId::hipLaunchKernel, 1, 1, 0, 100));
  CallRecord other = call(CallId::hipLaunchKernel, 2, 2, 0, 30);
  other.thread = 2;
  graph.call(other);
  CallRecord wait = waits(call(CallId::hipStreamWaitEvent, 3, 2, 40, 150), WaitKind::StreamForEvent, 1);
  wait.thread = 2;
  graph.call(wait);
  const DependencyGraph::Path path = graph.criticalPath();
  EXPECT_EQ(path.nodes, (std::vector<size_t>{0, 2}));
  EXPECT_EQ(path.nanoseconds, 150u); // of the wait, what lies behind the end of the launch
  EXPECT_NE(graph.json().find("\"critical_path\":{\"nanoseconds\":150,\"correlation_ids\":[1,3]}"), std::string::npos);
  EXPECT_NE(graph.dot().find("c1 -> c3 [style=bold, label=event, color=red]"), std::string::npos);
}

TEST_F(DependencyGraphTest, FailedCallsAreLeftOutAndTooManyAreCounted) {
  DependencyGraph small(1);
  CallRecord failed = call(CallId::hipLaunchKernel, 1, 1, 0, 1);
  failed.result = 1;
  small.call(failed);
  small.call(call(CallId::hipLaunchKernel, 2, 1, 1, 2));
  small.call(call(CallId::hipLaunchKernel, 3, 1, 2, 3));
  EXPECT_EQ(small.nodes().size(), 1u);
  EXPECT_EQ(small.dropped(), 1u);
}

TEST_F(DependencyGraphTest, AnEmptyGraphIsWellFormed) {
  EXPECT_NE(graph.json().find("\"edges\":[]"), std::string::npos);
  EXPECT_TRUE(graph.criticalPath().nodes.empty());
}

} // namespace wavesan::hip
