// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "region_files.h"
#include "tracer.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>

namespace wavesan::hip {
namespace {

using streams::GraphNode;
using streams::NodeId;

GraphNode fill() {
  GraphNode node;
  node.kind = "fill";
  return node;
}

Stream stream(uintptr_t n) { return reinterpret_cast<Stream>(0x1000 + n * 64); }
Event event(uintptr_t n) { return reinterpret_cast<Event>(0x900000 + n * 64); }
void *memory(uintptr_t offset) { return reinterpret_cast<void *>(0x10000000 + offset); }
constexpr uint64_t kBytes = 64;

/// HIP calls as the tracer passes them on, recorded.
struct RegionTest : ::testing::Test {
  Tracer tracer;
  ThreadState thread{11, 0};
  std::vector<RecordedRegion> regions;

  void start(const std::string &region, uint64_t maxRegions = 0, size_t maxNodes = RegionRecorder::kMaxNodes) {
    tracer.watchStreams(1 << 20);
    watch().setRecorder(std::make_unique<RegionRecorder>(region, maxRegions, 1 << 20, maxNodes),
                        [this](RecordedRegion region) { regions.push_back(std::move(region)); });
    tracer.attach([] { return std::vector<std::unique_ptr<TraceSink>>(); }, nullptr);
    for (uintptr_t s : {1, 2, 3}) {
      Stream made = stream(s);
      call(CallId::hipStreamCreateWithFlags, &made, uint32_t(kStreamNonBlocking));
    }
  }
  ~RegionTest() override { tracer.detach(); }
  StreamWatch &watch() { return *tracer.watch(); }
  template <class During, class... A> void callWith(CallId id, int result, During during, A... a) {
    CallArguments arguments;
    (arguments.add(a), ...);
    CallState state;
    tracer.begin(state, id, arguments, thread);
    during();
    tracer.end(state, arguments, thread, result);
  }
  template <class... A> void call(CallId id, A... a) {
    callWith(id, kHipSuccess, [] {}, a...);
  }
  void enter(const char *name, uint32_t by = 1) { watch().enterRegion(MarkerKind::Region, by, name); }
  void leave(uint32_t by = 1) { watch().leaveRegion(MarkerKind::Region, by); }
  void fill(uintptr_t s, uintptr_t at = 0) { call(CallId::hipMemsetAsync, memory(at), 0, kBytes, stream(s)); }
  void record(uintptr_t e, uintptr_t s) { call(CallId::hipEventRecord, event(e), stream(s)); }
  void wait(uintptr_t s, uintptr_t e) { call(CallId::hipStreamWaitEvent, stream(s), event(e), 0u); }
  uint64_t launch(uintptr_t s) {
    uint64_t ticket = 0;
    callWith(
        CallId::hipLaunchKernel, kHipSuccess,
        [&] { ticket = watch().bind({{256, 1, 1}, {64, 1, 1}}, nullptr, nullptr, 5, 9); }, static_cast<void *>(nullptr),
        Dim3{4, 1, 1}, Dim3{64, 1, 1}, static_cast<void *>(nullptr), uint64_t(24), stream(s));
    return ticket;
  }
  void ran(uint64_t ticket, uintptr_t at, uint8_t bits = abi::kAccessWrite) {
    const uint64_t begin = reinterpret_cast<uint64_t>(memory(at));
    const abi::AccessRun run = {begin, begin + kBytes, 1, bits, abi::Scope::System};
    const abi::DispatchAccesses all = {&run, 1, nullptr, 0, 0};
    watch().deliver(ticket, 5, 9, &all);
  }
  static std::vector<NodeId> dependencies(const RecordedRegion &region, size_t node) {
    return region.nodes.at(node).dependencies;
  }
};

} // namespace

TEST_F(RegionTest, OnlyTheNamedRegionAndItsOrder) {
  start("step");
  fill(1);
  enter("other");
  fill(1);
  leave();
  EXPECT_TRUE(regions.empty());
  enter("step");
  fill(1);
  record(1, 1);
  wait(2, 1);
  fill(2, 1024);
  call(CallId::hipStreamSynchronize, stream(2));
  fill(3); // behind both, by way of the host
  leave();
  fill(1);
  ASSERT_EQ(regions.size(), 1u);
  ASSERT_EQ(regions[0].nodes.size(), 3u);
  EXPECT_EQ(regions[0].name, "step");
  EXPECT_EQ(regions[0].streams, 3u);
  EXPECT_EQ(dependencies(regions[0], 0), std::vector<NodeId>{});
  EXPECT_EQ(dependencies(regions[0], 1), std::vector<NodeId>{1});
  EXPECT_EQ(dependencies(regions[0], 2), std::vector<NodeId>{2});
}

TEST_F(RegionTest, ARegionIsCompleteWhenItsKernelsHaveEnded) {
  start("step");
  enter("step");
  const uint64_t a = launch(1), b = launch(2);
  leave();
  EXPECT_TRUE(regions.empty());
  ran(b, 32);
  EXPECT_TRUE(regions.empty());
  ran(a, 0);
  ASSERT_EQ(regions.size(), 1u);
  const streams::Conflicts found = streams::findConflicts(regions[0].nodes);
  EXPECT_TRUE(found.looked);
  EXPECT_EQ(found.touchedUnknown, 0u);
  ASSERT_EQ(found.found.size(), 1u);
  EXPECT_EQ(found.found[0].first, 1u);
  EXPECT_EQ(found.found[0].second, 2u);
  EXPECT_EQ(found.found[0].address, reinterpret_cast<uint64_t>(memory(32)));
  EXPECT_EQ(found.found[0].bytes, 32u);
  EXPECT_TRUE(found.found[0].seenInRun);
  EXPECT_EQ(regions[0].nodes[0].groupBytes, 24u);
  EXPECT_EQ(regions[0].nodes[0].grid[0], 256u);
}

TEST_F(RegionTest, ReadsAndAtomicsDoNotConflict) {
  start("step");
  enter("step");
  const uint64_t a = launch(1), b = launch(2), c = launch(3);
  ran(a, 0, abi::kAccessRead);
  ran(b, 0, abi::kAccessRead);
  ran(c, 1024, abi::kAccessWrite | abi::kAccessAtomic);
  const uint64_t d = launch(1);
  ran(d, 1024, abi::kAccessRead | abi::kAccessWrite | abi::kAccessAtomic);
  leave();
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_TRUE(streams::findConflicts(regions[0].nodes).found.empty());
}

TEST_F(RegionTest, WhatKernelsTouchedIsNotKnownWhereNobodyTells) {
  start("step");
  enter("step");
  launch(1); // bound, and the process ends first
  watch().deliver(launch(2), 5, 9, nullptr);
  leave();
  EXPECT_TRUE(regions.empty());
  EXPECT_EQ(watch().finishRegions(), 0u);
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_FALSE(regions[0].openEnd);
  watch().finishRegions();
  EXPECT_EQ(regions.size(), 1u);
}

TEST_F(RegionTest, NestedAndFromSeveralThreads) {
  start("step");
  enter("step", 1);
  enter("step", 2);
  fill(1);
  leave(1);
  fill(1);
  leave(7); // began nothing
  EXPECT_TRUE(regions.empty());
  enter("inner", 2);
  leave(2);
  fill(1);
  leave(2);
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_EQ(regions[0].nodes.size(), 3u);
}

TEST_F(RegionTest, MarkersOfBothKindsNestByThemselves) {
  start("step");
  watch().enterRegion(MarkerKind::Range, 1, "step");
  enter("x");
  watch().leaveRegion(MarkerKind::Range, 1);
  leave();
  EXPECT_EQ(regions.size(), 1u);
  watch().startRange(77, "step");
  fill(1);
  watch().stopRange(78);
  EXPECT_EQ(regions.size(), 1u);
  watch().stopRange(77);
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_EQ(regions[1].nodes.size(), 1u);
}

TEST_F(RegionTest, TheFirstRegionOnly) {
  start(RegionRecorder::kFirst);
  for (const char *name : {"a", "b"}) {
    enter(name);
    fill(1);
    enter("within");
    leave();
    fill(1);
    leave();
  }
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_EQ(regions[0].name, "a");
  EXPECT_EQ(regions[0].nodes.size(), 2u);
}

TEST_F(RegionTest, TheWholeProgramNeedsNoMarkers) {
  start(RegionRecorder::kAll);
  fill(1);
  enter("a");
  leave();
  fill(2);
  EXPECT_TRUE(regions.empty());
  watch().finishRegions();
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_EQ(regions[0].nodes.size(), 2u);
  EXPECT_FALSE(regions[0].openEnd);
}

TEST_F(RegionTest, Limits) {
  start("step", /*maxRegions=*/2, /*maxNodes=*/3);
  for (int i = 0; i < 5; ++i) {
    enter("step");
    for (int n = 0; n < 5; ++n)
      fill(1);
    leave();
  }
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_EQ(regions[1].number, 2u);
  EXPECT_EQ(regions[1].nodes.size(), 3u);
  EXPECT_EQ(regions[1].skipped.at("commands behind the first 3"), 2u);
  EXPECT_EQ(watch().finishRegions(), 3u);
}

TEST_F(RegionTest, WhatCannotBeRecordedIsCounted) {
  start("step");
  enter("step");
  call(CallId::hipLaunchByPtr, static_cast<void *>(nullptr));
  callWith(CallId::hipMemsetAsync, 1, [] {}, memory(0), 0, kBytes, stream(1)); // failed
  call(CallId::hipStreamBeginCapture, stream(1), 0);
  fill(1);
  void *graph = nullptr;
  call(CallId::hipStreamEndCapture, stream(1), static_cast<void *>(&graph));
  fill(2);
  enter("step");
  ASSERT_TRUE(regions.empty());
  watch().finishRegions();
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_TRUE(regions[0].openEnd);
  EXPECT_EQ(regions[0].nodes.size(), 1u);
  EXPECT_EQ(regions[0].skipped,
            (std::map<std::string, uint64_t>{{"calls that became part of the program's own stream captures", 1},
                                             {"hipLaunchByPtr, whose stream is not among its arguments", 1}}));
  const std::string path = testing::TempDir() + "wavesan_region";
  const RegionReport report = writeRegion(regions[0], path + ".json", path + ".dot");
  EXPECT_TRUE(report.written);
  ASSERT_EQ(report.lines.size(), 4u);
  EXPECT_EQ(report.lines[0], "recorded region 'step': 1 node (1 fill) in 1 stream, 0 edges, 0 conflicts: " + path +
                                 ".json, " + path + ".dot");
  EXPECT_EQ(report.lines[1], "record: the program ended inside of region 'step'");
  EXPECT_EQ(report.lines[3],
            "record: not in region 'step': hipLaunchByPtr, whose stream is not among its arguments (1)");
  std::remove((path + ".json").c_str());
  std::remove((path + ".dot").c_str());
  EXPECT_EQ(writeRegion(regions[0], "/no/such/x", path).lines.at(0).substr(0, 35),
            "error: record: cannot write /no/suc");
}

TEST_F(RegionTest, ANodeWhoseWaitWasNotSeenIsNotCompared) {
  start("step");
  enter("step");
  fill(1);
  call(CallId::hipStreamWaitValue32, stream(2), memory(4096), 1u, 0u, 0xffffffffu); // nobody has written it
  fill(2);
  leave();
  ASSERT_EQ(regions.size(), 1u);
  const streams::Conflicts found = streams::findConflicts(regions[0].nodes);
  EXPECT_EQ(found.orderUnknown, 1u);
  EXPECT_TRUE(found.found.empty());
}

// The edges say what the order of streams says, no more and no less, and none of them is implied by others.
TEST(RegionEdges, AreTheOrderOfStreams) {
  std::mt19937 random(20261130);
  auto pick = [&](uint64_t n) { return random() % n; };
  for (int program = 0; program < 300; ++program) {
    streams::StreamOrder order;
    const uint64_t streamCount = 2 + pick(4);
    for (uint64_t s = 1; s <= streamCount; ++s)
      order.addStream(s,
                      s == 1    ? streams::StreamType::LegacyDefault
                      : pick(2) ? streams::StreamType::Blocking
                                : streams::StreamType::NonBlocking,
                      0);
    RegionRecorder recorder("r", 0, 1 << 20);
    std::vector<streams::Submitted> commands;
    std::vector<uint64_t> floors;
    std::vector<streams::Clock> events(3);
    const uint64_t begins = pick(8);
    for (uint64_t step = 0; step < 40; ++step) {
      if (step == begins)
        recorder.enter(MarkerKind::Region, 1, "r");
      const uint64_t s = 1 + pick(streamCount);
      switch (pick(6)) {
      case 0:
        events[pick(3)] = streams::StreamOrder::after(order.submit(s));
        break;
      case 1:
        order.streamWaits(s, events[pick(3)]);
        order.submit(s);
        break;
      case 2:
        if (pick(3) == 0)
          order.hostWaits(pick(3) ? order.contentsOfStream(s) : order.contentsOfAll());
        break;
      default: {
        const uint64_t floor = order.floor();
        const streams::Submitted command = order.submit(s);
        if (!recorder.active())
          break;
        recorder.add(command, floor, fill(), 0, 0);
        commands.push_back(command);
        floors.push_back(floor);
      }
      }
    }
    recorder.leave(MarkerKind::Region, 1);
    const std::vector<RecordedRegion> regions = recorder.take();
    ASSERT_EQ(regions.size(), 1u);
    const std::vector<GraphNode> &nodes = regions[0].nodes;
    ASSERT_EQ(nodes.size(), commands.size());
    const streams::Reachability reach(nodes);
    for (size_t later = 0; later < nodes.size(); ++later) {
      for (size_t earlier = 0; earlier < later; ++earlier) {
        const bool ordered = commands[earlier].number <= floors[later] ||
                             commands[earlier].at.stream == commands[later].at.stream ||
                             (commands[later].before && commands[later].before->knows(commands[earlier].at));
        ASSERT_EQ(reach.before(earlier + 1, later + 1), ordered) << program << ": " << earlier << ", " << later;
      }
      for (const NodeId a : nodes[later].dependencies)
        for (const NodeId b : nodes[later].dependencies)
          ASSERT_FALSE(reach.before(a, b)) << program;
    }
  }
}

TEST(RegionEdges, TooManyNodesOrAccessesAreNotCompared) {
  std::vector<GraphNode> nodes(streams::Reachability::kMaxNodes + 1);
  for (size_t n = 0; n < nodes.size(); ++n)
    nodes[n].id = n + 1;
  EXPECT_FALSE(streams::findConflicts(nodes).looked);
  nodes.resize(8000);
  for (GraphNode &node : nodes)
    node.touched.assign(3, {0, 8, abi::kAccessRead});
  EXPECT_FALSE(streams::findConflicts(nodes).looked); // 288 million pairs
  nodes.resize(10);
  EXPECT_TRUE(streams::findConflicts(nodes).looked);
}

} // namespace wavesan::hip
