// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes of one wave: phases against a plain model with a set of knowing lanes for each access.
#include "lane_order.h"

#include <gtest/gtest.h>
#include <random>

namespace wavesan::cpu {
namespace {

TEST(LaneOrder, ArmsMeetBehindTheirBranch) {
  LaneOrder order;
  order.start(0xff);
  const LaneOrder::Phase first = order.phaseOf(0x0f);
  order.meet(0xf0); // the other arm runs
  EXPECT_EQ(order.unknownTo(first), 0xf0u);
  const LaneOrder::Phase second = order.phaseOf(0xf0);
  EXPECT_EQ(order.unknownTo(second), 0x0fu);
  order.meet(0xff);
  EXPECT_EQ(order.unknownTo(first) | order.unknownTo(second), 0u);
  EXPECT_TRUE(order.allKnown());
}
TEST(LaneOrder, KnowledgePassesThroughWhoMet) {
  LaneOrder order;
  order.start(0xf);
  const LaneOrder::Phase a = order.phaseOf(1);
  order.meet(0b0011);
  order.meet(0b0110);
  EXPECT_EQ(order.unknownTo(a), 0b1000u);
  order.meet(0b1000); // alone
  EXPECT_EQ(order.unknownTo(a), 0b1000u);
  order.learnAll(0b1000);
  EXPECT_EQ(order.unknownTo(a), 0u);
}
TEST(LaneOrder, LoopsWithManyRoundsNeedFewPhases) {
  LaneOrder order;
  order.start(~uint64_t(0));
  for (int lane = 0; lane < 63; ++lane)
    for (int round = 0; round < 100; ++round) {
      order.meet(~uint64_t(0) << lane); // those still in the loop
      order.phaseOf(~uint64_t(0) << lane);
    }
  EXPECT_LE(order.phases(), 64u);
}
TEST(LaneOrder, AgainstAPlainModel) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    const uint64_t all = random() | 1;
    LaneOrder order;
    order.start(all);
    struct Access {
      LaneOrder::Phase phase;
      uint64_t known;
    };
    std::vector<Access> accesses;
    const auto mask = [&] {
      uint64_t m = 0;
      while (!(m & all))
        m = random() & random() & (random() % 2 ? random() : ~uint64_t(0));
      return m & all;
    };
    for (int step = 0; step < 60; ++step) {
      const uint64_t m = mask();
      switch (random() % 4) {
      case 0:
      case 1:
        accesses.push_back({order.phaseOf(m), m});
        break;
      case 2:
        order.meet(m);
        for (Access &a : accesses)
          if (a.known & m)
            a.known |= m;
        break;
      default:
        if (random() % 8)
          break;
        order.learnAll(m);
        for (Access &a : accesses)
          a.known |= m;
      }
      bool allKnown = true;
      for (const Access &a : accesses) {
        ASSERT_EQ(order.unknownTo(a.phase), all & ~a.known) << "seed " << seed;
        allKnown &= (all & ~a.known) == 0;
      }
      ASSERT_EQ(order.allKnown(), allKnown) << "seed " << seed;
      if (allKnown) {
        order.forget();
        accesses.clear();
      }
    }
  }
}

} // namespace
} // namespace wavesan::cpu
