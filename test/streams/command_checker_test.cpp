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
    checker.bind(launch);
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
  checker.bind(launch);
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
