// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs of streams, events and waits: the clocks against the graph, and the races against all pairs.
#include "command_checker.h"
#include "order_reference.h"

#include <gtest/gtest.h>

#include <random>

namespace wavesan::streams {
using wavesan::test::OrderReference;

namespace {

constexpr uint64_t kBytes = 48;

struct Done {
  Submitted order;
  size_t node = 0;
  uint64_t begin = 0, end = 0;
  uint8_t bits = 0;
  uint64_t number = 0; ///< in calls
};

struct Program {
  explicit Program(uint64_t seed, bool assume)
      : Random(seed), Checker(CommandChecker::kHistoryBytes, CommandChecker::kMaxWaiting, assume) {
    const size_t devices = 1 + pick(2), n = 2 + pick(5);
    for (size_t i = 0; i < n; ++i) {
      const int device = int(pick(devices));
      const StreamType types[] = {StreamType::Blocking, StreamType::NonBlocking, StreamType::LegacyDefault};
      StreamType type = types[pick(3)];
      for (const OrderReference::Stream &other : Reference.streams)
        if (other.type == StreamType::LegacyDefault && other.device == device && type == StreamType::LegacyDefault)
          type = StreamType::Blocking;
      Reference.streams.push_back({type, device, {}});
      Order.addStream(i + 1, type, device);
    }
    Reference.resizeWaits(n);
    Events.resize(3);
    Nodes.resize(3, SIZE_MAX);
  }

  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(Random); }

  Done submit(size_t stream) {
    Done d;
    d.order = Order.submit(stream + 1);
    d.node = Reference.submit(stream);
    for (const Done &earlier : All)
      EXPECT_EQ(Order.follows(d.order, earlier.order), Reference.before(earlier.node, d.node))
          << earlier.order.number << " and " << d.order.number;
    All.push_back(d);
    return d;
  }

  void hostWaits(const Clock &known, const std::vector<size_t> &nodes) {
    Order.hostWaits(known);
    Checker.hostWaited(Order.floor(), Order.host());
    Reference.hostWaits(nodes);
    for (const Done &d : All)
      EXPECT_EQ(Order.hostKnows(d.order.number, d.order.at), Reference.hostKnows(d.node));
  }

  void step() {
    const size_t stream = pick(Reference.streams.size());
    const size_t event = pick(Events.size());
    switch (pick(10)) {
    case 0: {
      const Done d = submit(stream);
      Events[event] = StreamOrder::after(d.order);
      Nodes[event] = d.node;
      break;
    }
    case 1:
      if (Events[event]) {
        Order.streamWaits(stream + 1, Events[event]);
        Reference.streamWaits(stream, Nodes[event]);
        submit(stream); // the wait itself
      }
      break;
    case 2:
      if (pick(2) && Events[event])
        hostWaits(Events[event], {Nodes[event]});
      else
        hostWaits(Order.contentsOfStream(stream + 1), Reference.contents(stream));
      break;
    case 3:
      if (pick(6) == 0) {
        std::vector<size_t> all;
        for (const OrderReference::Stream &s : Reference.streams)
          all.insert(all.end(), s.commands.begin(), s.commands.end());
        hostWaits(Order.contentsOfAll(), all);
      }
      break;
    default:
      touch(submit(stream));
    }
    if (pick(4) == 0)
      deliverOne();
    take(Checker.takeRaces());
  }

  void touch(Done d) {
    d.begin = pick(kBytes);
    d.end = d.begin + 1 + pick(12);
    d.bits = pick(2) ? abi::kAccessWrite : abi::kAccessRead;
    if (pick(4) == 0)
      d.bits |= abi::kAccessAtomic;
    d.number = Touching.size();
    auto command = std::make_shared<Command>();
    command->order = d.order;
    command->call = std::make_shared<const std::vector<uint64_t>>(1, d.number);
    const bool kernel = pick(2) != 0;
    command->kind = kernel ? abi::CommandKind::Kernel : abi::CommandKind::Copy;
    if (kernel) {
      const auto launch = Checker.beginLaunch();
      Checker.bind(launch, 0);
      UnderWay.push_back({launch, d});
      Checker.submit(command, {}, launch);
    } else {
      d.bits &= uint8_t(~abi::kAccessAtomic);
      Checker.submit(command, {{d.begin, d.end, d.bits}}, 0);
    }
    Touching.push_back(d);
  }

  void deliverOne() {
    if (UnderWay.empty())
      return;
    const size_t i = pick(UnderWay.size());
    const auto [launch, d] = UnderWay[i];
    UnderWay.erase(UnderWay.begin() + ptrdiff_t(i));
    const abi::AccessRun run = {d.begin, d.end, 1, d.bits, abi::Scope::Agent};
    const abi::DispatchAccesses accesses = {&run, 1, nullptr, 0, 0};
    Checker.deliver(launch, 1, d.number, &accesses);
  }

  void take(std::vector<FoundRace> races) {
    for (const FoundRace &race : races) {
      const Done &b = Touching[race.current.part->command->call->front()];
      const Done &a = Touching[race.previous.part->command->call->front()];
      EXPECT_LT(a.order.number, b.order.number);
      EXPECT_TRUE(races_(a, b)) << a.order.number << " and " << b.order.number;
      EXPECT_GE(race.address, std::max(a.begin, b.begin));
      EXPECT_LE(race.address + race.bytes, std::min(a.end, b.end));
      Racy.insert(b.number);
    }
  }

  bool races_(const Done &a, const Done &b) const {
    const bool overlap = a.begin < b.end && b.begin < a.end;
    const bool writes = (a.bits | b.bits) & abi::kAccessWrite, atomics = a.bits & b.bits & abi::kAccessAtomic;
    return overlap && writes && !atomics && !Reference.before(a.node, b.node);
  }

  void finish() {
    while (!UnderWay.empty())
      deliverOne();
    take(Checker.finish());
  }

  std::mt19937_64 Random;
  OrderReference Reference;
  StreamOrder Order;
  CommandChecker Checker;
  std::vector<Clock> Events;
  std::vector<size_t> Nodes;
  std::vector<Done> All, Touching;
  std::vector<std::pair<CommandChecker::Ticket, Done>> UnderWay;
  std::set<uint64_t> Racy; ///< commands that a race was reported for
};

} // namespace

TEST(StreamProperty, ClocksAndRacesAreThoseOfTheGraph) {
  size_t racy = 0, clean = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Program program(seed, /*assume=*/false);
    for (int i = 0; i < 60; ++i)
      program.step();
    program.finish();
    for (const Done &b : program.Touching) {
      bool expected = false;
      for (const Done &a : program.Touching)
        expected |= a.order.number < b.order.number && program.races_(a, b);
      EXPECT_EQ(program.Racy.contains(b.number), expected) << "command " << b.order.number;
      ++(expected ? racy : clean);
    }
    EXPECT_EQ(program.Checker.counts.lost, 0u);
    if (HasFailure())
      return;
  }
  EXPECT_GT(racy, 500u); // the programs are worth something
  EXPECT_GT(clean, 500u);
}

TEST(StreamProperty, WithAssumedFixesEveryReportIsARaceAndTheFirstOneStays) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Program program(seed, /*assume=*/true);
    for (int i = 0; i < 60; ++i)
      program.step();
    program.finish();
    for (const Done &b : program.Touching) { // the first racy command of the program
      bool expected = false;
      for (const Done &a : program.Touching)
        expected |= a.order.number < b.order.number && program.races_(a, b);
      if (expected) {
        EXPECT_TRUE(program.Racy.contains(b.number));
        break;
      }
    }
    if (HasFailure())
      return;
  }
}

} // namespace wavesan::streams
