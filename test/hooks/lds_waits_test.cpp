// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waits that count LDS instructions.
#include "lds_queue.h"
#include "native_hooks_fixture.h"

#include <random>

namespace wavesan::cpu {
namespace {

using Kind = LdsQueue::Kind;

TEST(LdsQueue, InOrderAndByNumber) {
  LdsQueue q;
  for (uint32_t g = 1; g <= 4; ++g)
    q.issued(g, Kind::One, 4);
  EXPECT_EQ(q.wait(4).completeBelow, 0u);
  EXPECT_EQ(q.wait(3).completeBelow, 2u);
  EXPECT_EQ(q.wait(1).completeBelow, 4u);
  EXPECT_EQ(q.wait(1).completeBelow, 0u); // nothing new
  q.clear();
  EXPECT_EQ(q.wait(1).completeBelow, 0u);
}
TEST(LdsQueue, WhatTheCompilerMakesOfAnAccessIsUnknown) {
  LdsQueue q;
  q.issued(1, Kind::One, 4);
  q.issued(2, Kind::Compiled, 4); // one instruction, or part of another, or four
  q.issued(3, Kind::Compiled, 4);
  EXPECT_EQ(q.wait(9).completeBelow, 0u); // at most eight younger
  const LdsQueue::Waited two = q.wait(2);
  EXPECT_EQ(two.completeBelow, 3u);
  EXPECT_EQ(two.unknown, 2u);
  q.issued(4, Kind::One, 4);
  const LdsQueue::Waited one = q.wait(1);
  EXPECT_EQ(one.completeBelow, 4u);
  EXPECT_EQ(one.unknown, 0u);
}
TEST(LdsQueue, FlatAccessesHoldUpWhatCameAfterThem) {
  LdsQueue q;
  q.issued(1, Kind::One, 4);
  q.issued(2, Kind::Flat, 4);
  q.issued(3, Kind::One, 4);
  q.issued(4, Kind::One, 4);
  EXPECT_EQ(q.wait(1).completeBelow, 2u);
}
TEST(LdsQueue, TwoHalvesOfOneInstruction) {
  LdsQueue q;
  q.issued(1, Kind::One, 4);
  q.continued(2);
  q.issued(3, Kind::One, 4);
  EXPECT_EQ(q.wait(2).completeBelow, 0u);
  EXPECT_EQ(q.wait(1).completeBelow, 3u);
}
TEST(LdsQueue, AgainstAPlainModel) {
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937 random(seed);
    LdsQueue q;
    std::vector<bool> complete; // of each instruction, by order of issue
    uint32_t below = 0;
    for (uint32_t step = 0; step < 200; ++step)
      if (random() % 3) {
        complete.push_back(false);
        q.issued(uint32_t(complete.size()), Kind::One, 4);
      } else {
        const uint32_t count = 1 + random() % (random() % 4 ? 4 : 63);
        for (size_t i = 0; i + count < complete.size(); ++i) // at least `count` came after it
          complete[i] = true;
        const LdsQueue::Waited done = q.wait(count);
        EXPECT_EQ(done.unknown, 0u);
        below = std::max(below, done.completeBelow);
        for (size_t i = 0; i < complete.size(); ++i)
          ASSERT_EQ(complete[i], i + 1 < below) << "seed " << seed;
      }
  }
}

class LdsWaitsTest : public NativeHooksTest {
protected:
  LdsWaitsTest() { Flags = abi::kContextCountsLdsWaits; }
  void one(uint32_t wave, uint32_t bits, uint32_t site, uint32_t base, bool second = false) {
    uint32_t address[64];
    for (uint32_t i = 0; i < 64; ++i)
      address[i] = base + 4 * i % 128;
    const uint32_t info = abi::accessInfo(bits, 4) | abi::kAccessOneInstruction | (second ? abi::kAccessOfCopy : 0u);
    with(wave, [&](WaveView &v) { Hooks->ldsAccess(v, 3, address, info, site, 0); });
  }
  void waitFor(uint32_t wave, uint32_t count) {
    with(wave,
         [&](WaveView &v) { Hooks->wait(v, ~0ull, count ? abi::waitInfo(0, 0, 0, count) : uint32_t(abi::kWaitLds)); });
  }
  void bareBarrier() {
    for (uint32_t w = 0; w < Waves; ++w)
      with(w, [&](WaveView &v) { Hooks->barrierArrive(v, ~0ull, 0); });
    for (uint32_t w = 0; w < Waves; ++w)
      with(w, [&](WaveView &v) { Hooks->barrierLeave(v, ~0ull, 0); });
  }
};

TEST_F(LdsWaitsTest, AWaitForACountCompletesTheOlderOnes) {
  start(2);
  one(0, abi::kAccessWrite, 3, 0);
  one(0, abi::kAccessWrite, 4, 16);
  waitFor(0, 1);
  bareBarrier();
  one(1, abi::kAccessRead, 5, 0);
  EXPECT_TRUE(races().empty());
  one(1, abi::kAccessRead, 6, 16); // may still be under way
  finish();
  ASSERT_EQ(races().size(), 1u);
  EXPECT_EQ(races()[0].current.site, 6u);
  EXPECT_EQ(races()[0].raceClass, uint32_t(abi::RaceClass::MissingFence));
  EXPECT_EQ(Counters.waitsUnknown, 0u);
}
TEST_F(LdsWaitsTest, AWaitThatIsSatisfiedAtOnceCompletesNothing) {
  start(2);
  one(0, abi::kAccessWrite, 3, 0);
  one(0, abi::kAccessWrite, 4, 16);
  waitFor(0, 2);
  bareBarrier();
  one(1, abi::kAccessRead, 5, 0);
  finish();
  EXPECT_EQ(races().size(), 1u);
}
TEST_F(LdsWaitsTest, ReadsAreUnderWayToo) {
  start(2);
  one(0, abi::kAccessRead, 3, 0);
  one(0, abi::kAccessRead, 4, 16);
  waitFor(0, 1);
  bareBarrier();
  one(1, abi::kAccessWrite, 5, 0);
  EXPECT_TRUE(races().empty());
  one(1, abi::kAccessWrite, 6, 16);
  EXPECT_EQ(races().size(), 1u);
  finish();
}
TEST_F(LdsWaitsTest, APairIsOneInstruction) {
  start(2);
  one(0, abi::kAccessWrite, 3, 0);
  one(0, abi::kAccessWrite, 3, 16, /*second=*/true);
  waitFor(0, 1);
  bareBarrier();
  one(1, abi::kAccessRead, 5, 0);
  finish();
  EXPECT_EQ(races().size(), 1u);
}
TEST_F(LdsWaitsTest, TheCompilersAccessesMakeItUnknown) {
  start(2);
  one(0, abi::kAccessWrite, 3, 0);
  access(0, abi::kAccessWrite, 4, 4, 1, 64);
  waitFor(0, 1);
  bareBarrier();
  one(1, abi::kAccessRead, 5, 0);
  finish();
  EXPECT_TRUE(races().empty());
  EXPECT_EQ(Counters.waitsUnknown, 1u);
}

} // namespace
} // namespace wavesan::cpu
