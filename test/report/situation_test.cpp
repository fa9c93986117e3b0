// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/race.h"

#include <gtest/gtest.h>

using namespace wavesan::report;

namespace {
using Chain = std::vector<Frame>; // innermost first
Frame k(uint32_t line, uint32_t column = 1) { return {"k", "k.hip", line, column}; }
Frame f(uint32_t line) { return {"f", "f.h", line, 1}; }
} // namespace

TEST(Situation, BarrierBetweenTheLinesOfALoop) {
  const SourceLoop loop = {"k", "k.hip", 18, 32};
  EXPECT_EQ(judgeSituation({k(30)}, {k(20)}, {{}, {loop}}), Situation::StraightLine);
  EXPECT_EQ(judgeSituation({k(30)}, {k(20)}, {{Chain{k(25)}}, {loop}}), Situation::LoopCarried);
  EXPECT_EQ(judgeSituation({k(20)}, {k(30)}, {{Chain{k(25)}}, {loop}}), Situation::LoopCarried);
}

TEST(Situation, WithoutALoopAroundBothTheBarrierIsSkipped) {
  for (const SourceLoop &loop : std::vector<SourceLoop>{
           {"k", "k.hip", 21, 32}, {"k", "k.hip", 18, 29}, {"g", "k.hip", 18, 32}, {"k", "other.hip", 18, 32}})
    EXPECT_EQ(judgeSituation({k(30)}, {k(20)}, {{Chain{k(25)}}, {loop}}), Situation::BarrierSkipped) << loop.function;
}

TEST(Situation, BarriersElsewhereDoNotCount) {
  std::vector<Chain> elsewhere = {{k(10)}, {k(40)}, {{"g", "k.hip", 25, 1}}, {{"k", "other.hip", 25, 1}}, {}, {k(0)}};
  EXPECT_EQ(judgeSituation({k(30)}, {k(20)}, {elsewhere, {}}), Situation::StraightLine);
}

TEST(Situation, InlinedBarrierCountsAtItsCallersLine) {
  // __syncthreads() itself is an inlined function of a header.
  EXPECT_EQ(judgeSituation({k(30)}, {k(20)}, {{Chain{{"__syncthreads", "hip.h", 5, 1}, k(25)}}, {}}),
            Situation::BarrierSkipped);
}

TEST(Situation, BarrierInsideAnotherInlinedCallDoesNotCount) {
  // Both accesses lie in the instance of f that k calls at line 10; the barrier in the one called at line 50.
  EXPECT_EQ(judgeSituation({f(9), k(10)}, {f(5), k(10)}, {{Chain{f(7), k(50)}}, {}}), Situation::StraightLine);
  EXPECT_EQ(judgeSituation({f(9), k(10)}, {f(5), k(10)}, {{Chain{f(7), k(10)}}, {}}), Situation::BarrierSkipped);
}

TEST(Situation, ALoopAroundTheCallCounts) {
  EXPECT_EQ(judgeSituation({f(9), k(10)}, {f(5), k(10)}, {{Chain{f(7), k(10)}}, {{"k", "k.hip", 8, 12}}}),
            Situation::LoopCarried);
}

TEST(Situation, BarrierOfACallBeforeItsAccessIsNotBetweenTwoCalls) {
  // f writes in line 5, synchronises in line 7, reads in line 9; k calls it in lines 10 and 11.
  std::vector<Chain> barriers = {{f(7), k(10)}, {f(7), k(11)}};
  EXPECT_EQ(judgeSituation({f(5), k(11)}, {f(9), k(10)}, {barriers, {}}), Situation::StraightLine);
  EXPECT_EQ(judgeSituation({f(9), k(11)}, {f(5), k(10)}, {barriers, {}}), Situation::BarrierSkipped);
}

TEST(Situation, ColumnsDecideOnALine) {
  EXPECT_EQ(judgeSituation({k(30, 20)}, {k(20)}, {{Chain{k(30, 1)}}, {}}), Situation::BarrierSkipped);
  EXPECT_EQ(judgeSituation({k(30, 20)}, {k(20)}, {{Chain{k(30, 40)}}, {}}), Situation::StraightLine);
  EXPECT_EQ(judgeSituation({k(30, 0)}, {k(20)}, {{Chain{k(30, 0)}}, {}}), Situation::StraightLine);
}

TEST(Situation, SameLineAndUnknown) {
  EXPECT_EQ(judgeSituation({k(30, 3)}, {k(30, 9)}, {}), Situation::SameLine);
  EXPECT_EQ(judgeSituation({}, {k(30)}, {}), Situation::Unknown);
  EXPECT_EQ(judgeSituation({f(1)}, {k(30)}, {}), Situation::Unknown);
  EXPECT_EQ(judgeSituation({k(0)}, {k(30)}, {}), Situation::Unknown);
}

TEST(CommonFunction, IsTheInnermostSharedInstance) {
  Chain current = {f(9), k(10)}, previous = {f(5), k(10)}, other = {f(5), k(11)};
  EXPECT_EQ(commonFunction(current, previous).current, &current[0]);
  EXPECT_EQ(commonFunction(current, previous).previous, &previous[0]);
  EXPECT_EQ(commonFunction(current, other).current, &current[1]);
  EXPECT_EQ(commonFunction(current, {}).current, nullptr);
}

TEST(Names, Demangle) {
  EXPECT_EQ(demangle("_Z13transpose_ldsPKiPi"), "transpose_lds(int const*, int*)");
  EXPECT_EQ(demangle("plain_c_name"), "plain_c_name");
  EXPECT_EQ(demangle("_Znonsense"), "_Znonsense");
}
