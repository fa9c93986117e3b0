// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/core/cell.h"

#include <gtest/gtest.h>
#include <random>

namespace wavesan {
using namespace core;

TEST(Slot, EveryFieldSurvivesPackingWithTheOthersAtRandom) {
  std::mt19937_64 random(20261129);
  auto upTo = [&](uint64_t max) { return uint32_t(std::uniform_int_distribution<uint64_t>(0, max)(random)); };
  for (int i = 0; i < 100000; ++i) {
    // The extremes are drawn often: they are where fields overlap.
    auto pick = [&](uint32_t max) { return i % 3 == 0 ? (random() & 1 ? max : 0) : upTo(max); };
    uint32_t wave = pick(31), lane = pick(63), site = pick((1u << 22) - 1), generation = pick(Slot::kMaxGeneration),
             epoch = pick(~0u);
    bool atomic = random() & 1;
    Slot s(wave, lane, site, generation, epoch, atomic);
    ASSERT_EQ(s.wave(), wave);
    ASSERT_EQ(s.lane(), lane);
    ASSERT_EQ(s.site(), site);
    ASSERT_EQ(s.generation(), generation);
    ASSERT_EQ(s.epochLow(), Slot::epochLowOf(epoch));
    ASSERT_EQ(s.atomic(), atomic);
    ASSERT_EQ(Slot(s.bits()).bits(), s.bits());
  }
}

TEST(Slot, AnyAccessDiffersFromEmpty) {
  EXPECT_TRUE(Slot().empty());
  EXPECT_FALSE(Slot(0, 0, 0, 1, 0, false).empty());
}

TEST(Conflict, IsTheTableOfTheHeader) {
  struct Row {
    bool writeA, atomicA, writeB, atomicB, conflict;
  };
  const Row rows[] = {{false, false, false, false, false}, {false, false, false, true, false},
                      {false, false, true, false, true},   {false, false, true, true, true},
                      {false, true, false, true, false},   {false, true, true, false, true},
                      {false, true, true, true, false},    {true, false, true, false, true},
                      {true, false, true, true, true},     {true, true, true, true, false}};
  for (const Row &r : rows) {
    EXPECT_EQ(conflicting(r.writeA, r.atomicA, r.writeB, r.atomicB), r.conflict);
    EXPECT_EQ(conflicting(r.writeB, r.atomicB, r.writeA, r.atomicA), r.conflict);
  }
}

} // namespace wavesan
