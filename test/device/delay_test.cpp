// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Delays of the device runtime (runtime/device/delay.h), compiled for the host: who sleeps how often, and what ends it.
// Other waves act while one sleeps.
#include "device_on_host.h"

#include <vector>

namespace wavesan {
namespace {

using namespace test;

constexpr uint32_t kWaves = 3, kFirstSite = 11, kSecondSite = 12, kOtherSite = 13;
constexpr uint32_t kSettle = 5, kLag = 20, kMost = 100;
constexpr uint32_t kStore = abi::accessInfo(abi::kAccessWrite, 4);

class Delay : public WithLds {
protected:
  void TearDown() override { asleep = nullptr; }

  /// Wave 0 of this workgroup, number 7, before wave 1.
  static abi::Delays usual() {
    abi::Delays d{};
    d.first = {kFirstSite, {7, 0, 0}, 0};
    d.second = {kSecondSite, {7, 0, 0}, 1};
    d.settle = kSettle, d.lag = kLag, d.most = kMost, d.seed = 1;
    return d;
  }
  void begin(const abi::Delays *delays) {
    if (delays) {
      Delays = *delays;
      Context.delays = uint64_t(&Delays);
    }
    raceTable()->capacity = kCapacity;
    Context.raceTable = uint64_t(Table.data());
    Context.counters = uint64_t(&Counters);
    Context.ldsBytes = 256;
    Context.granuleLog2 = 2;
    setShape(Context, 8, kWaves);
    spoilLds();
    beginWorkgroup(Context, 7, kWaves, [this](uint32_t w) { return state(w); });
  }
  device::PrivateState *state(uint32_t wave) { return (device::PrivateState *)&States[wave]; }
  abi::RaceTable *raceTable() { return reinterpret_cast<abi::RaceTable *>(Table.data()); }

  /// How often the wave sleeps in front of its access. `during`: after so many sleeps, `happens`.
  uint32_t access(uint32_t wave, uint32_t site, uint32_t during = ~0u, std::function<void()> happens = {}) {
    uint32_t sleeps = 0;
    asleep = [&] {
      if (++sleeps == during) {
        std::function<void()> outer;
        outer.swap(asleep);
        happens();
        outer.swap(asleep);
      }
    };
    __wavesan_lds_access(state(wave), Address + 4 * wave, kStore, site, abi::kNoVariable);
    asleep = nullptr;
    return sleeps;
  }
  uint32_t Address = 0; ///< of wave 0's next access
  void arrive(uint32_t wave) { __wavesan_barrier_arrive(state(wave), 1); }
  void barrier() {
    for (uint32_t w = 0; w < kWaves; ++w) {
      if (!ArrivedEarly[w])
        arrive(w);
      ArrivedEarly[w] = false;
    }
    for (uint32_t w = 0; w < kWaves; ++w)
      __wavesan_barrier_leave(state(w), 1);
  }
  void end(uint32_t wave) { __wavesan_kernel_end(state(wave)); }

  static constexpr uint32_t kCapacity = 64;
  abi::DispatchContext Context{};
  abi::DispatchCounters Counters{};
  abi::Delays Delays{};
  bool ArrivedEarly[kWaves]{};
  std::vector<device::WaveState> States = std::vector<device::WaveState>(kWaves);
  std::vector<char> Table = std::vector<char>(sizeof(abi::RaceTable) + kCapacity * sizeof(abi::RaceRecord));
};

} // namespace

TEST_F(Delay, WithoutThemNobodySleeps) {
  begin(nullptr);
  for (uint32_t i = 0; i < 100; ++i)
    for (uint32_t w = 0; w < kWaves; ++w)
      EXPECT_EQ(access(w, kFirstSite + w), 0u);
}

TEST_F(Delay, TheSecondWaitsForTheFirst) {
  const abi::Delays d = usual();
  begin(&d);
  EXPECT_EQ(access(1, kSecondSite, 10, [&] { __wavesan_lds_access(state(0), 0, kStore, kFirstSite, 0); }),
            10 + kSettle);
  EXPECT_EQ(access(1, kSecondSite), 0u); // in this round it has passed
  EXPECT_EQ(Delays.holds, 0u);
}

TEST_F(Delay, TheFirstDoesNotWait) {
  const abi::Delays d = usual();
  begin(&d);
  EXPECT_EQ(access(0, kFirstSite), 0u);
  EXPECT_EQ(access(1, kSecondSite), kSettle); // its access may still be under way
  EXPECT_EQ(access(1, kSecondSite), 0u);
}

TEST_F(Delay, AnewBehindEachBarrier) {
  const abi::Delays d = usual();
  begin(&d);
  for (int round = 0; round < 6; ++round) {
    EXPECT_EQ(access(1, kSecondSite, 3, [&] { __wavesan_lds_access(state(0), 0, kStore, kFirstSite, 0); }), 3 + kSettle)
        << round;
    barrier();
  }
}

TEST_F(Delay, TheFirstArrivesAtTheBarrier) {
  const abi::Delays d = usual();
  begin(&d);
  for (int round = 0; round < 6; ++round) {
    EXPECT_EQ(access(1, kSecondSite, 3, [&] { arrive(0); }), 3u) << round;
    ArrivedEarly[0] = true;
    barrier();
  }
}

TEST_F(Delay, TheFirstEnds) {
  const abi::Delays d = usual();
  begin(&d);
  EXPECT_EQ(access(1, kSecondSite, 3, [&] { end(0); }), 3u);
  EXPECT_EQ(access(1, kSecondSite), 0u);
}

TEST_F(Delay, NobodyWaitsForEver) {
  const abi::Delays d = usual();
  begin(&d);
  EXPECT_EQ(access(1, kSecondSite), kMost);
  EXPECT_EQ(access(1, kSecondSite), 0u);
  barrier();
  EXPECT_EQ(access(1, kSecondSite), 0u);
  EXPECT_EQ(Delays.holds, 0u);
}

TEST_F(Delay, BetweenWorkgroupsOnce) {
  abi::Delays d = usual();
  d.first.workgroup[0] = 6;
  begin(&d);
  EXPECT_EQ(access(0, kFirstSite), 0u); // the same wave and site, of another workgroup: no role
  EXPECT_EQ(Delays.passed, 0u);
  EXPECT_EQ(access(1, kSecondSite, 4, [&] { Delays.passed = 1; }), 4 + kSettle);
  barrier();
  EXPECT_EQ(access(1, kSecondSite), 0u);
}

// Of a site in a loop, only accesses that touch the bytes of the report are the pair.
TEST_F(Delay, OnlyAccessesToTheBytesCount) {
  for (const bool range : {false, true}) {
    abi::Delays d = usual();
    d.lag = 0;
    d.lds = 1;
    d.beginLow = 103;
    d.bytes = 1;
    begin(&d);
    const auto first = [&](uint32_t address) {
      if (range)
        __wavesan_lds_range(state(0), address, 4, abi::accessInfo(abi::kAccessWrite, 0), kFirstSite, 0);
      else
        __wavesan_lds_access(state(0), address, kStore, kFirstSite, 0);
    };
    for (uint32_t other : {0u, 96u, 99u, 104u, 200u}) {
      first(other);
      EXPECT_EQ(Delays.passed, 0u) << other;
    }
    Address = 104 - 4; // wave 1 is 4 behind
    EXPECT_EQ(access(1, kSecondSite), 0u);
    Address = 100 - 4;
    EXPECT_EQ(access(1, kSecondSite, 10, [&] { first(100); }), 10 + kSettle);
    EXPECT_NE(Delays.settled, 0u);
  }
}

TEST_F(Delay, OnlyAccessesToMemoryOfThatKindCount) {
  abi::Delays d = usual();
  d.lds = 0; // the site's accesses are to LDS
  d.beginLow = 0;
  d.bytes = 256;
  begin(&d);
  __wavesan_lds_access(state(0), 0, kStore, kFirstSite, 0);
  EXPECT_EQ(Delays.passed, 0u);
}

TEST_F(Delay, WhoIsSecondIsSlow) {
  const abi::Delays d = usual();
  begin(&d);
  EXPECT_EQ(access(0, kOtherSite), 0u);
  EXPECT_EQ(access(1, kOtherSite), kLag);
  EXPECT_EQ(access(1, kOtherSite, 2, [&] { arrive(0); }), 2u); // nobody is ahead of it any more
}

TEST_F(Delay, WhoIsFirstIsSlow) {
  abi::Delays d = usual();
  d.slowFirst = 1;
  begin(&d);
  EXPECT_EQ(access(1, kOtherSite), 0u);
  EXPECT_EQ(access(0, kOtherSite), kLag);
  EXPECT_EQ(access(0, kFirstSite), 0u);
  EXPECT_EQ(access(0, kOtherSite), kLag); // the second catches up
  barrier();
  // Not while the second waits for it.
  EXPECT_EQ(access(1, kSecondSite, 2,
                   [&] {
                     EXPECT_EQ(access(0, kOtherSite), 0u);
                     __wavesan_lds_access(state(0), 0, kStore, kFirstSite, 0);
                   }),
            2 + kSettle);
}

TEST_F(Delay, OtherWavesSleepAsTheSeedSays) {
  std::vector<std::vector<uint32_t>> seen;
  for (uint32_t seed : {1u, 1u, 2u}) {
    abi::Delays d = usual();
    d.seed = seed;
    begin(&d);
    std::vector<uint32_t> &sleeps = seen.emplace_back();
    uint32_t sum = 0;
    for (int i = 0; i < 64; ++i)
      sum += sleeps.emplace_back(access(2, kOtherSite));
    EXPECT_GT(sum, 0u);
    EXPECT_LT(sum, 64 * 4u);
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_NE(seen[0], seen[2]);
}

} // namespace wavesan
