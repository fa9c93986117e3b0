// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of barriers, driven event by event in any order of the waves.
#include "divergence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace wavesan::cpu {
namespace {

constexpr LaneMask kAll = ~LaneMask(0);

/// Sites 10, 11, ... are copies of source barriers 0, 1, ...; 20, 21, ... others of the same; 30 is bare; 40 unknown.
struct Barriers : BarrierMap {
  Barrier barrier(uint32_t site) const override {
    if (site == 30 || site == 31)
      return {site, true};
    return site == 40 ? Barrier{} : Barrier{site % 10, false};
  }
  bool leaves(uint32_t turn, uint32_t source) const override { return turn == source + 100; }
  Position position(uint32_t turn, uint32_t) const override { return {turn, 5, 1}; }
};

class DivergenceTest : public testing::Test {
protected:
  void start(uint32_t waves) {
    Waves = waves;
    Check.start(waves);
    for (uint32_t w = 0; w < waves; ++w)
      with(w, [&](WaveView &v) { Check.begin(v, kAll); });
  }
  template <class F> void with(uint32_t wave, F f) {
    WaveView v{nullptr, 0, {}, wave, 64, Waves, 0, 0, Data, Dispatch, &Map, Turns.data(), uint32_t(Turns.size())};
    f(v);
  }
  void arrive(uint32_t wave, uint32_t site, LaneMask lanes = kAll) {
    with(wave, [&](WaveView &v) { Check.arrive(v, lanes, site); });
  }
  void end(uint32_t wave, LaneMask lanes = kAll) {
    with(wave, [&](WaveView &v) { Check.end(v, lanes); });
  }
  std::vector<abi::RaceRecord> found() {
    std::vector<abi::RaceRecord> records;
    Check.finish([&](abi::RaceRecord &r) { records.push_back(r); });
    return records;
  }

  DivergenceCheck Check;
  Barriers Map;
  std::vector<Turn> Turns;
  void *Data = nullptr, *Dispatch = nullptr;
  uint32_t Waves = 0;
};

TEST_F(DivergenceTest, CopiesOfOneBarrierAreOneBarrierAndNothingIsKept) {
  start(3);
  for (int round = 0; round < 1000; ++round) {
    for (uint32_t w = 0; w < 3; ++w)
      arrive(w, w == 1 ? 20 : 10);
    EXPECT_EQ(Check.openSteps(), 0u);
  }
  for (uint32_t w = 0; w < 3; ++w)
    end(w);
  EXPECT_TRUE(found().empty());
}

TEST_F(DivergenceTest, DifferentBarriers) {
  start(3);
  Turns = {{100, kAll}};
  arrive(2, 11);
  arrive(0, 10);
  arrive(1, 10);
  const auto r = found();
  ASSERT_EQ(r.size(), 1u);
  EXPECT_EQ(abi::RaceClass(r[0].raceClass), abi::RaceClass::BarrierDivergence);
  EXPECT_EQ(r[0].previous.site, 10u);
  EXPECT_EQ(r[0].current.site, 11u);
  const abi::DivergenceDetail d = abi::divergenceOf(r[0]);
  EXPECT_EQ(d.waves[0], 3u);
  EXPECT_EQ(d.waves[1], 4u);
  EXPECT_EQ(d.line, 100u); // the turn of wave 2 that left barrier 0
  EXPECT_EQ(d.column, 5u);
  EXPECT_EQ(d.depth, 1u);
  EXPECT_FALSE(d.apart);
}

TEST_F(DivergenceTest, ThreeBarriersAreTwoFindings) {
  start(3);
  for (uint32_t w = 0; w < 3; ++w)
    arrive(w, 10 + w);
  EXPECT_EQ(found().size(), 2u);
}

TEST_F(DivergenceTest, EarlyExitOfPartOfAWave) {
  start(2);
  arrive(0, 10);
  arrive(1, 10, 0xff);
  end(1, ~LaneMask(0xff));
  end(1, 0xff);
  end(0);
  const auto r = found();
  ASSERT_EQ(r.size(), 1u);
  EXPECT_EQ(abi::RaceClass(r[0].raceClass), abi::RaceClass::EarlyExit);
  EXPECT_EQ(r[0].current.site, abi::kNoSite);
  EXPECT_EQ(r[0].current.wave, 1u);
  EXPECT_EQ(r[0].current.lane, 8u);
  const abi::DivergenceDetail d = abi::divergenceOf(r[0]);
  EXPECT_EQ(d.waves[0], 3u);
  EXPECT_EQ(d.waves[1], 2u);
  EXPECT_EQ(d.lanes[1], ~LaneMask(0xff));
}

TEST_F(DivergenceTest, EndingFirstIsTheSame) {
  start(2);
  end(1);
  EXPECT_TRUE(found().empty());
  arrive(0, 10);
  EXPECT_EQ(found().size(), 1u);
}

TEST_F(DivergenceTest, UnevenRounds) {
  start(2);
  for (int round = 0; round < 3; ++round) {
    arrive(0, 10);
    if (round < 2)
      arrive(1, 10);
  }
  end(1);
  end(0);
  const auto r = found();
  ASSERT_EQ(r.size(), 1u);
  EXPECT_TRUE(abi::divergenceOf(r[0]).uneven);
  EXPECT_EQ(r[0].epoch, 2u);
}

TEST_F(DivergenceTest, UnevenRoundsBeforeAnotherBarrier) {
  start(2);
  arrive(0, 10);
  arrive(1, 10);
  arrive(0, 11); // has left the loop
  arrive(1, 10);
  const auto r = found();
  ASSERT_EQ(r.size(), 1u);
  EXPECT_TRUE(abi::divergenceOf(r[0]).uneven);
  EXPECT_EQ(r[0].previous.site, 10u); // who goes on with the loop
  EXPECT_EQ(r[0].previous.wave, 1u);
}

TEST_F(DivergenceTest, OneWaveInParts) {
  start(1);
  arrive(0, 10, 0xf);
  arrive(0, 10, ~LaneMask(0xf));
  const auto r = found();
  ASSERT_EQ(r.size(), 1u);
  const abi::DivergenceDetail d = abi::divergenceOf(r[0]);
  EXPECT_TRUE(d.apart);
  EXPECT_EQ(d.lanes[0], 0xfu);
  EXPECT_EQ(d.lanes[1], ~LaneMask(0xf));
}

TEST_F(DivergenceTest, BareBarriersCountWaves) {
  start(3);
  arrive(0, 30);
  arrive(1, 31);
  arrive(2, 30, 1); // the whole wave
  end(2);
  arrive(0, 31);
  arrive(1, 31);
  end(0);
  end(1);
  EXPECT_TRUE(found().empty());
  EXPECT_EQ(Check.openSteps(), 0u);
}

TEST_F(DivergenceTest, ABareBarrierIsNoSyncthreads) {
  start(2);
  arrive(0, 30);
  arrive(1, 10);
  EXPECT_EQ(found().size(), 1u);
}

TEST_F(DivergenceTest, SyncthreadsWithoutAWaveThatEndedAmongBareOnes) {
  start(2);
  arrive(0, 30);
  end(1);
  EXPECT_TRUE(found().empty());
  arrive(0, 10);
  const auto r = found();
  ASSERT_EQ(r.size(), 1u);
  EXPECT_EQ(abi::RaceClass(r[0].raceClass), abi::RaceClass::EarlyExit);
}

TEST_F(DivergenceTest, AnUnknownBarrierMayBeAny) {
  start(3);
  arrive(0, 10);
  arrive(1, 40);
  arrive(2, 10);
  EXPECT_TRUE(found().empty());
  arrive(0, 40);
  end(1);
  EXPECT_EQ(found().size(), 1u);
}

/// Random programs: every lane has its own sequence. Against a plain comparison of the sequences, in random schedules.
TEST_F(DivergenceTest, AgreesWithAComparisonOfSequences) {
  for (uint32_t seed = 1; seed <= 3000; ++seed) {
    std::mt19937 random(seed);
    const uint32_t waves = 1 + random() % 3;
    const std::vector<uint32_t> common = [&] {
      std::vector<uint32_t> s(random() % 4);
      for (uint32_t &site : s)
        site = 10 + random() % 2;
      return s;
    }();
    // Per wave one or two groups of lanes, each with the common sequence or a changed one.
    struct Part {
      uint32_t wave;
      LaneMask lanes;
      std::vector<uint32_t> sites;
      size_t at = 0;
      bool ended = false;
    };
    std::vector<Part> parts;
    bool differ = false, split = false;
    for (uint32_t w = 0; w < waves; ++w) {
      const bool two = random() % 4 == 0;
      for (LaneMask lanes : two ? std::vector<LaneMask>{0xffff, ~LaneMask(0xffff)} : std::vector<LaneMask>{kAll}) {
        Part p{w, lanes, common};
        if (random() % 4 == 0) {
          if (!p.sites.empty() && random() % 2)
            p.sites.pop_back();
          else
            p.sites.push_back(10 + random() % 2);
        }
        differ |= p.sites != (parts.empty() ? p.sites : parts.front().sites);
        parts.push_back(p);
      }
      split |= two && !parts.back().sites.empty() && !parts[parts.size() - 2].sites.empty();
    }
    start(waves);
    for (size_t left = parts.size(); left;) {
      Part &p = parts[random() % parts.size()];
      if (p.ended)
        continue;
      if (p.at < p.sites.size()) {
        arrive(p.wave, p.sites[p.at] + (random() % 2 ? 10 : 0), p.lanes);
        ++p.at;
      } else {
        end(p.wave, p.lanes);
        p.ended = true;
        --left;
      }
    }
    ASSERT_EQ(!found().empty(), differ || split) << "seed " << seed;
    if (!differ && !split) {
      ASSERT_EQ(Check.openSteps(), 0u) << "seed " << seed;
    }
  }
}

TEST(DivergenceRecord, DetailSurvivesTheRecord) {
  const abi::DivergenceDetail in{
      {0x80000001, 0xfffffffe}, {0x8000000000000001, 0x123456789abcdef0}, 4711, 65535, 255, true, false, false};
  abi::RaceRecord r{};
  abi::setDivergence(r, in);
  const abi::DivergenceDetail out = abi::divergenceOf(r);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(out.waves[i], in.waves[i]);
    EXPECT_EQ(out.lanes[i], in.lanes[i]);
  }
  EXPECT_EQ(out.line, in.line);
  EXPECT_EQ(out.column, in.column);
  EXPECT_EQ(out.depth, in.depth);
  EXPECT_TRUE(out.apart);
  EXPECT_FALSE(out.uneven);
}

} // namespace
} // namespace wavesan::cpu
