// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "command_checker.h"

#include <gtest/gtest.h>

namespace wavesan::streams {

namespace {

struct CheckerTest : testing::Test {
  StreamOrder order;
  CommandChecker checker;
  CheckerTest() {
    for (StreamId s : {1, 2, 3})
      order.addStream(s, StreamType::NonBlocking, 0);
  }
  std::shared_ptr<Command> command(StreamId stream, uint64_t line) {
    auto c = std::make_shared<Command>();
    c->order = order.submit(stream);
    c->call = std::make_shared<const std::vector<uint64_t>>(1, line);
    return c;
  }
  std::shared_ptr<Command> copy(StreamId stream, uint64_t line, uint64_t begin, uint64_t end, uint8_t bits) {
    auto c = command(stream, line);
    c->kind = abi::CommandKind::Copy;
    checker.submit(c, {{begin, end, bits}}, 0);
    return c;
  }
  CommandChecker::Ticket kernel(StreamId stream, uint64_t line) {
    const auto launch = checker.beginLaunch();
    checker.bind(launch, 0);
    checker.submit(command(stream, line), {}, launch);
    return launch;
  }
  void ends(CommandChecker::Ticket launch, uint64_t begin, uint64_t end, uint8_t bits,
            std::vector<abi::SyncPlace> places = {}) {
    const abi::AccessRun run = {begin, end, 1, bits, abi::Scope::Agent};
    const abi::DispatchAccesses all = {&run, 1, places.data(), places.size(), 0};
    checker.deliver(launch, 7, 1, &all);
  }
};

constexpr uint8_t kRead = abi::kAccessRead, kWrite = abi::kAccessWrite;

} // namespace

TEST_F(CheckerTest, AKernelIsComparedWithWhatCameBeforeAndBehindItWhenItEnds) {
  copy(1, 10, 0, 64, kWrite);
  const auto launch = kernel(2, 20);
  copy(3, 30, 32, 64, kWrite);
  EXPECT_TRUE(checker.takeRaces().empty());
  EXPECT_EQ(checker.waiting(), 2u);
  ends(launch, 0, 40, kRead);
  const auto races = checker.takeRaces();
  ASSERT_EQ(races.size(), 3u);
  EXPECT_EQ(races[0].current.part->command->call->front(), 20u);
  EXPECT_EQ(races[0].previous.part->command->call->front(), 10u);
  EXPECT_EQ(races[0].bytes, 40u);
  for (int i : {1, 2})
    EXPECT_EQ(races[size_t(i)].current.part->command->call->front(), 30u);
  EXPECT_EQ(checker.counts.commands, 3u);
  EXPECT_EQ(checker.counts.streams, 3u);
}

namespace {

/// A launch of a graph in stream 1 whose nodes have these dependencies. `dispatches`: which nodes each may be.
struct GraphLaunch {
  CommandChecker &checker;
  CommandChecker::Ticket ticket;
  GraphLaunch(CheckerTest &test, std::vector<std::vector<NodeIndex>> dependencies,
              std::vector<std::vector<NodeIndex>> dispatches = {}, std::vector<Range> ranges = {})
      : checker(test.checker), ticket(checker.beginLaunch()) {
    std::vector<GraphOrder::Node> nodes;
    for (auto &d : dependencies)
      nodes.push_back({abi::CommandKind::Kernel, "hipGraphAddKernelNode",
                       std::make_shared<const std::vector<uint64_t>>(1, 100 + nodes.size()), nodes.size() + 1, d});
    auto c = test.command(1, 10);
    c->kind = abi::CommandKind::Graph;
    c->graph = std::make_shared<const GraphOrder>(std::move(nodes));
    for (size_t d = 0; d < dispatches.size(); ++d)
      checker.bind(ticket, d + 1, dispatches[d]);
    checker.submit(c, std::move(ranges), ticket);
  }
  void ends(uint64_t dispatch, uint64_t begin, uint64_t end, uint8_t bits) {
    const abi::AccessRun run = {begin, end, uint32_t(dispatch), bits, abi::Scope::Agent};
    const abi::DispatchAccesses all = {&run, 1, nullptr, 0, 0};
    checker.deliver(ticket, 7, dispatch, &all);
  }
};

} // namespace

TEST_F(CheckerTest, NodesOfAGraphAreOrderedByItsEdgesAlone) {
  // 0 -> 1 -> 3, and 2 by itself.
  GraphLaunch launch(*this, {{}, {0}, {}, {1}}, {{0}, {1}, {2}, {3}});
  launch.ends(4, 0, 64, kWrite); // in whatever order they end
  launch.ends(3, 32, 96, kRead);
  launch.ends(2, 0, 64, kWrite);
  launch.ends(1, 0, 128, kWrite);
  const auto races = checker.takeRaces();
  // 2 races with 0, 1 and 3. An edge from 1 to 2 orders 0 as well; 3 needs another one.
  ASSERT_EQ(races.size(), 2u);
  EXPECT_EQ(races[0].previousNode, 1u);
  EXPECT_EQ(races[0].currentNode, 2u);
  EXPECT_EQ(races[0].address, 32u);
  EXPECT_EQ(races[0].bytes, 32u);
  EXPECT_EQ(races[1].previousNode, 2u);
  EXPECT_EQ(races[1].currentNode, 3u);
  EXPECT_EQ(checker.counts.repeats, 1u);
  EXPECT_EQ(checker.counts.graphCopies, 0u);
}

TEST_F(CheckerTest, DisjointNodesOfAGraphAreClean) {
  GraphLaunch launch(*this, {{}, {}, {}}, {{0}, {1}}, {{128, 192, kWrite, 2}});
  launch.ends(1, 0, 64, kWrite);
  launch.ends(2, 64, 128, kWrite);
  EXPECT_TRUE(checker.takeRaces().empty());
  EXPECT_EQ(checker.counts.commands, 1u);
  EXPECT_EQ(checker.counts.graphCopies, 0u);
}

TEST_F(CheckerTest, CopiesOfAGraphRaceWithItsKernelsAndWithOtherCommands) {
  GraphLaunch launch(*this, {{}, {}}, {{0}}, {{0, 64, kWrite, 1}});
  launch.ends(1, 0, 8, kRead);
  copy(2, 30, 32, 64, kRead);
  const auto races = checker.takeRaces();
  ASSERT_EQ(races.size(), 2u);
  EXPECT_EQ(races[0].previousNode, 0u);
  EXPECT_EQ(races[0].currentNode, 1u);
  EXPECT_EQ(races[1].currentNode, kNoNode);
  EXPECT_EQ(races[1].current.part->command->call->front(), 30u);
}

TEST_F(CheckerTest, WhatIsUncertainInAGraphIsCountedAndNotReported) {
  // 0 -> 2 and 1: dispatches that are 0 or 1, and 2.
  GraphLaunch launch(*this, {{}, {}, {0}}, {{0, 1}, {0, 1}, {2}, {}});
  launch.ends(1, 0, 64, kWrite);
  launch.ends(2, 64, 128, kWrite);
  launch.ends(3, 0, 64, kWrite); // ordered with the one or not
  launch.ends(4, 256, 260, kWrite);
  EXPECT_TRUE(checker.takeRaces().empty());
  EXPECT_EQ(checker.counts.graphCopies, 1u);
  // Where each of them is unordered with each, it is a race whichever is which.
  GraphLaunch other(*this, {{}, {}}, {{0, 1}, {0, 1}});
  other.ends(1, 0, 64, kWrite);
  other.ends(2, 0, 64, kWrite);
  EXPECT_EQ(checker.takeRaces().size(), 1u);
  EXPECT_EQ(checker.counts.graphCopies, 1u);
}

TEST_F(CheckerTest, TheSameRaceOfAGraphInALaterLaunchIsARepeat) {
  for (int run = 0; run < 3; ++run) {
    GraphLaunch launch(*this, {{}, {}}, {{0}, {1}});
    launch.ends(1, 0, 64, kWrite);
    launch.ends(2, 0, 64, kWrite);
    EXPECT_EQ(checker.takeRaces().size(), run == 0 ? 1u : 0u);
  }
  EXPECT_EQ(checker.counts.repeats, 2u);
}

TEST_F(CheckerTest, OneMissingEdgeIsReportedOnce) {
  copy(1, 10, 0, 64, kWrite);
  for (uint64_t line = 20; line < 30; ++line)
    copy(2, line, 0, 64, kRead);
  EXPECT_EQ(checker.takeRaces().size(), 1u);
  copy(1, 40, 0, 64, kWrite); // another edge: back
  EXPECT_EQ(checker.takeRaces().size(), 1u);
}

TEST_F(CheckerTest, TheSameLinesAreReportedOnceAndCounted) {
  for (int i = 0; i < 5; ++i) {
    copy(1, 10, 0, 64, kWrite);
    copy(2, 20, 0, 64, kRead);
    order.hostWaits(order.contentsOfAll());
    checker.hostWaited(order.floor(), order.host());
  }
  EXPECT_EQ(checker.takeRaces().size(), 1u);
  EXPECT_EQ(checker.counts.repeats, 4u);
  EXPECT_EQ(checker.historyBytes(), 0u);
}

TEST_F(CheckerTest, AdviceNamesTheEventThatWouldDoAndTheOneThatIsTooEarly) {
  auto early = command(1, 5);
  checker.recorded(early->order, 100, early->call);
  order.streamWaits(2, StreamOrder::after(early->order));
  copy(1, 10, 0, 64, kWrite);
  auto late = command(1, 15);
  checker.recorded(late->order, 101, late->call);
  copy(2, 20, 0, 64, kRead);
  const auto races = checker.takeRaces();
  ASSERT_EQ(races.size(), 1u);
  EXPECT_EQ(races[0].early.event, 100u);
  EXPECT_EQ(races[0].late.event, 101u);
  EXPECT_EQ(races[0].late.call->front(), 15u);
}

TEST_F(CheckerTest, ReusedMemoryIsOtherMemory) {
  copy(1, 10, 0, 64, kWrite);
  checker.newMemory(0, 64);
  copy(2, 20, 0, 64, kWrite);
  EXPECT_TRUE(checker.takeRaces().empty());
}

TEST_F(CheckerTest, AtomicsThatMayHaveOrderedTwoKernelsAreNoRace) {
  const auto a = kernel(1, 10), b = kernel(2, 20);
  ends(a, 0, 64, kWrite, {{1000, true, false, false}});
  ends(b, 0, 64, kRead, {{1000, false, false, true}});
  EXPECT_TRUE(checker.takeRaces().empty());
  EXPECT_EQ(checker.counts.atomicsOrder, 1u);
  const auto c = kernel(3, 30); // acquires elsewhere
  ends(c, 0, 64, kRead, {{2000, false, false, true}});
  EXPECT_EQ(checker.takeRaces().size(), 1u);
}

TEST_F(CheckerTest, AHostAccessFollowsWhatTheHostHasWaitedFor) {
  auto host = [&](uint64_t line) {
    auto c = std::make_shared<Command>();
    c->kind = abi::CommandKind::Host;
    c->onHost = true;
    c->order = {order.lastNumber(), {0, 0}, order.host()};
    c->call = std::make_shared<const std::vector<uint64_t>>(1, line);
    checker.submit(c, {{0, 4, kRead}}, 0);
  };
  copy(1, 10, 0, 64, kWrite);
  host(20);
  EXPECT_EQ(checker.takeRaces().size(), 1u);
  order.hostWaits(order.contentsOfStream(1));
  checker.hostWaited(order.floor(), order.host());
  host(30);
  copy(2, 40, 0, 64, kWrite); // follows the host
  EXPECT_TRUE(checker.takeRaces().empty());
  EXPECT_EQ(checker.counts.hostAccesses, 2u);
}

namespace {

/// A host function in a stream.
struct HostFunctionTest : CheckerTest {
  CommandChecker::Ticket function(StreamId stream, uint64_t line) {
    const auto launch = checker.beginLaunch();
    checker.bind(launch, 0);
    auto c = command(stream, line);
    c->kind = abi::CommandKind::HostFunction;
    checker.submit(c, {}, launch);
    return launch;
  }
  void ran(CommandChecker::Ticket launch, uint64_t line, uint8_t bits, std::vector<abi::SyncPlace> places = {}) {
    checker.deliverHost(launch, {{std::make_shared<const std::vector<uint64_t>>(1, line), {{0, 4, bits}}}}, places);
  }
  void host(uint64_t line, uint8_t bits) {
    auto c = std::make_shared<Command>();
    c->kind = abi::CommandKind::Host;
    c->onHost = true;
    c->order = {order.lastNumber(), {0, 0}, order.host()};
    c->call = std::make_shared<const std::vector<uint64_t>>(1, line);
    checker.submit(c, {{0, 4, bits}}, 0);
  }
};

} // namespace

TEST_F(HostFunctionTest, ItIsACommandOfItsStream) {
  copy(1, 10, 0, 64, kWrite);
  const auto f = function(1, 20);
  copy(1, 30, 0, 64, kWrite);
  copy(2, 40, 0, 64, kRead); // against 30, and not against the function
  ran(f, 21, kRead);
  const auto races = checker.takeRaces();
  ASSERT_EQ(races.size(), 1u);
  EXPECT_EQ(races[0].previous.part->command->call->front(), 30u);
}

TEST_F(HostFunctionTest, ItRacesWithCommandsOfOtherStreamsInBothDirections) {
  copy(2, 10, 0, 64, kRead);
  const auto f = function(1, 20);
  copy(3, 30, 0, 64, kRead);
  EXPECT_TRUE(checker.takeRaces().empty()); // nobody knows yet what it does
  ran(f, 21, kWrite);
  const auto races = checker.takeRaces();
  ASSERT_EQ(races.size(), 2u);
  EXPECT_EQ(races[0].current.part->access->front(), 21u);
  EXPECT_EQ(races[0].previous.part->command->call->front(), 10u);
  EXPECT_EQ(races[1].current.part->command->call->front(), 30u);
  EXPECT_EQ(races[1].previous.part->access->front(), 21u);
  EXPECT_EQ(checker.counts.commands, 3u);
}

TEST_F(HostFunctionTest, ThreadsOfTheHostAreNotComparedAndHideNoCommand) {
  copy(1, 10, 0, 64, kWrite);
  const auto f = function(1, 20), g = function(2, 30);
  host(40, kRead); // has not waited for the copy; the function is not looked at
  ran(f, 21, kWrite);
  ran(g, 31, kWrite);
  const auto races = checker.takeRaces();
  ASSERT_EQ(races.size(), 2u);
  for (const FoundRace &race : races)
    EXPECT_EQ(race.previous.part->command->call->front(), 10u);
  EXPECT_EQ(races[0].current.part->command->call->front(), 30u);
  EXPECT_EQ(races[1].current.part->command->call->front(), 40u);
}

TEST_F(HostFunctionTest, ItsAtomicsExcludeAKernelsAtSystemScopeOnly) {
  constexpr uint8_t kAtomic = abi::kAccessRead | abi::kAccessWrite | abi::kAccessAtomic;
  const auto f = function(1, 20);
  ran(f, 21, kAtomic);
  ends(kernel(2, 30), 0, 4, kAtomic); // agent scope
  EXPECT_EQ(checker.takeRaces().size(), 1u);
  const auto launch = kernel(3, 40);
  const abi::AccessRun run = {0, 4, 1, kAtomic, abi::Scope::System};
  const abi::DispatchAccesses all = {&run, 1, nullptr, 0, 0};
  checker.deliver(launch, 7, 2, &all);
  EXPECT_TRUE(checker.takeRaces().empty());
}

TEST_F(HostFunctionTest, ItMayBeOrderedThroughMemoryLikeTheHost) {
  ends(kernel(2, 30), 0, 4, kWrite, {{1000, true, true, false}});
  const auto f = function(1, 20);
  ran(f, 21, kRead, {{1000, false, false, true}});
  EXPECT_TRUE(checker.takeRaces().empty());
  EXPECT_EQ(checker.counts.atomicsOrder, 1u);
}

TEST_F(HostFunctionTest, ManyInOneStreamAreKeptWithoutLoss) {
  copy(1, 10, 0, 64, kWrite);
  for (uint64_t i = 0; i < 100; ++i)
    ran(function(1, 20), 21, kWrite);
  copy(2, 30, 0, 64, kRead);
  EXPECT_EQ(checker.takeRaces().size(), 1u);
  EXPECT_EQ(checker.counts.lost, 0u);
}

TEST_F(HostFunctionTest, ThatTouchesNothingIsNoComparedCommandAndHoldsUpNobody) {
  const auto f = function(1, 20);
  checker.deliverHost(f, {}, {});
  copy(2, 30, 0, 64, kRead);
  EXPECT_TRUE(checker.takeRaces().empty());
  EXPECT_EQ(checker.waiting(), 0u);
  EXPECT_EQ(checker.counts.commands, 1u);
  EXPECT_EQ(checker.counts.unboundLaunches, 0u);
}

TEST_F(CheckerTest, UnknownOrderAndMissingDispatchesAreCountedAndNotReported) {
  copy(1, 10, 0, 64, kWrite);
  order.streamWaitsForUnknown(2);
  copy(2, 20, 0, 64, kWrite);
  const auto launch = checker.beginLaunch(); // nothing bound
  checker.submit(command(3, 30), {}, launch);
  const auto other = kernel(3, 31);
  checker.deliver(other, 0, 1, nullptr);
  EXPECT_TRUE(checker.takeRaces().empty());
  EXPECT_EQ(checker.counts.orderUnknown, 1u);
  EXPECT_EQ(checker.counts.unboundLaunches, 1u);
  EXPECT_EQ(checker.counts.notRecorded, 1u);
}

TEST(Checker, AKernelThatDoesNotEndHoldsUpABoundedNumber) {
  StreamOrder order;
  CommandChecker checker(CommandChecker::kHistoryBytes, 10);
  order.addStream(1, StreamType::NonBlocking, 0);
  order.addStream(2, StreamType::NonBlocking, 0);
  const auto launch = checker.beginLaunch();
  checker.bind(launch, 0);
  auto kernel = std::make_shared<Command>();
  kernel->order = order.submit(1);
  checker.submit(kernel, {}, launch);
  for (int i = 0; i < 20; ++i) {
    auto c = std::make_shared<Command>();
    c->order = order.submit(2);
    checker.submit(c, {{0, 4, kWrite}}, 0);
    checker.takeRaces();
  }
  EXPECT_LE(checker.waiting(), 10u);
  EXPECT_EQ(checker.counts.unfinished, 1u);
  const abi::AccessRun run = {0, 4, 1, kWrite, abi::Scope::Agent};
  const abi::DispatchAccesses all = {&run, 1, nullptr, 0, 0};
  checker.deliver(launch, 7, 1, &all); // too late: nobody takes it
  EXPECT_TRUE(checker.finish().empty());
}

} // namespace wavesan::streams
