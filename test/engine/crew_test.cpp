// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "crew.h"

#include <gtest/gtest.h>

#include <vector>

namespace wavesan::cpu::engine {
namespace {

struct CrewTest : testing::Test {
  LaunchState launch{};
  void SetUp() override { launch.failedAt = Crew::kNobody; }
  static Outcome error() { return {Outcome::Trap, "trap"}; }
};

TEST_F(CrewTest, EveryWorkgroupOnce) {
  for (uint32_t workers : {1u, 2u, 3u, 8u})
    for (uint64_t count : {1u, 2u, 63u, 64u, 65u, 1000u, 4096u}) {
      Crew crew(launch, count, true, workers);
      std::vector<unsigned> started(count);
      std::vector<Crew::Block> blocks(workers);
      for (uint32_t i = 0; crew.more(blocks[i % workers]); ++i) {
        uint64_t id;
        ASSERT_TRUE(crew.take(blocks[i % workers], id));
        ++started.at(id);
      }
      for (Crew::Block &b : blocks) // some have a part of their blocks left
        for (uint64_t id; crew.take(b, id);)
          ++started.at(id);
      EXPECT_EQ(started, std::vector<unsigned>(count, 1)) << workers << " workers";
      EXPECT_EQ(crew.taken(), count);
    }
}

TEST_F(CrewTest, AThreadTakesNeighboursTogether) {
  Crew crew(launch, 4096, true, 2);
  Crew::Block one, other;
  uint64_t a, b, next;
  ASSERT_TRUE(crew.take(one, a) && crew.take(other, b) && crew.take(one, next));
  EXPECT_EQ(next, a + 1);
  EXPECT_GE(b, a + 16);
}

TEST_F(CrewTest, NobodyHoldsMoreThanAShareOfWhatIsLeft) {
  Crew crew(launch, 16, true, 2);
  Crew::Block one, other;
  uint64_t a, b;
  ASSERT_TRUE(crew.take(one, a) && crew.take(other, b));
  EXPECT_LE(b, a + 2);
}

// Those in front of one that has failed are still started, by whoever has them: one of them may fail, too.
TEST_F(CrewTest, TheLowestFailureIsTheOutcome) {
  Crew crew(launch, 4096, true, 2);
  Crew::Block low, high;
  uint64_t a, b, id;
  ASSERT_TRUE(crew.take(low, a) && crew.take(high, b));
  ASSERT_LT(a, b);
  crew.fail(b, error());
  EXPECT_FALSE(crew.more(high));
  EXPECT_FALSE(crew.take(high, id));
  for (uint64_t expected = a + 1; expected < b; ++expected) {
    ASSERT_TRUE(crew.more(low));
    ASSERT_TRUE(crew.take(low, id));
    EXPECT_EQ(id, expected);
    if (id == a + 5) {
      crew.fail(id, {Outcome::Trap, "earlier"});
      break;
    }
  }
  EXPECT_FALSE(crew.more(low));
  EXPECT_FALSE(crew.take(low, id));
  EXPECT_EQ(crew.outcome().message, "earlier");
}

TEST_F(CrewTest, NothingBehindAFailureIsStartedFromABlock) {
  Crew crew(launch, 4096, true, 2);
  Crew::Block low, high;
  uint64_t a, b, id;
  ASSERT_TRUE(crew.take(low, a) && crew.take(high, b));
  crew.fail(a, error());
  EXPECT_FALSE(crew.take(high, id));
  EXPECT_FALSE(crew.more(high));
}

} // namespace
} // namespace wavesan::cpu::engine
