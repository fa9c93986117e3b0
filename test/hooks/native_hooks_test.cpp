// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native hooks driven as the engine drives them, wave by wave.
#include "native_hooks.h"

#include <gtest/gtest.h>
#include <vector>

namespace wavesan::cpu {
namespace {

class NativeHooksTest : public testing::Test {
protected:
  static constexpr uint32_t Capacity = 16, LdsBytes = 512;
  void start(uint32_t waves, uint32_t granuleLog2 = 2) {
    Waves = waves;
    Table.assign(1 + Capacity, {});
    head()->capacity = Capacity;
    Context = {};
    Context.raceTable = reinterpret_cast<uint64_t>(Table.data());
    Context.counters = reinterpret_cast<uint64_t>(&Counters);
    Context.ldsBytes = LdsBytes;
    Context.granuleLog2 = granuleLog2;
    Counters = {};
    Data = nullptr;
    for (uint32_t w = 0; w < waves; ++w)
      with(w, [&](WaveView &v) { Hooks->kernelBegin(v, ~0ull, &Context); });
  }
  void finish() {
    for (uint32_t w = 0; w < Waves; ++w)
      with(w, [&](WaveView &v) { Hooks->kernelEnd(v, ~0ull); });
    Hooks->workgroupEnd(Data);
  }
  template <class F> void with(uint32_t wave, F f) {
    WaveView v{Lds.data(), uint32_t(Lds.size()), {7, 8, 9}, wave, 64, Waves, Data};
    f(v);
  }
  void access(uint32_t wave, uint32_t bits, uint32_t site, uint32_t stride = 4, LaneMask exec = ~0ull,
              uint32_t base = 0) {
    uint32_t address[64];
    for (uint32_t i = 0; i < 64; ++i)
      address[i] = base + i * stride;
    with(wave, [&](WaveView &v) { Hooks->ldsAccess(v, exec, address, abi::accessInfo(bits, 4), site, 0); });
  }
  void sync() {
    const uint32_t info = abi::fenceInfo(abi::kFenceRelease | abi::kFenceLds, abi::Scope::Workgroup);
    for (uint32_t w = 0; w < Waves; ++w)
      with(w, [&](WaveView &v) {
        Hooks->fence(v, ~0ull, info);
        Hooks->barrierArrive(v, ~0ull, 0);
      });
    for (uint32_t w = 0; w < Waves; ++w)
      with(w, [&](WaveView &v) {
        Hooks->barrierLeave(v, ~0ull, 0);
        Hooks->fence(v, ~0ull, info);
      });
  }
  abi::RaceTable *head() { return reinterpret_cast<abi::RaceTable *>(Table.data()); }
  std::vector<abi::RaceRecord> races() {
    std::vector<abi::RaceRecord> out;
    for (uint32_t i = 1; i <= Capacity; ++i)
      if (Table[i].key)
        out.push_back(Table[i]);
    return out;
  }

  std::unique_ptr<HookHandler> Hooks = makeNativeHooks();
  std::vector<uint8_t> Lds = std::vector<uint8_t>(4096);
  std::vector<abi::RaceRecord> Table;
  abi::DispatchContext Context;
  abi::DispatchCounters Counters;
  void *Data = nullptr;
  uint32_t Waves = 0;
};

TEST_F(NativeHooksTest, RaceIsReportedWithBothSides) {
  start(2);
  access(0, abi::kAccessWrite, 3);
  access(1, abi::kAccessRead, 4);
  finish();
  ASSERT_EQ(races().size(), 1u);
  const abi::RaceRecord r = races()[0];
  EXPECT_EQ(r.ready, 1u);
  EXPECT_EQ(r.count, 64u);
  EXPECT_EQ(r.current.site, 4u);
  EXPECT_EQ(r.current.wave, 1u);
  EXPECT_EQ(r.current.access, abi::kAccessRead);
  EXPECT_EQ(r.previous.site, 3u);
  EXPECT_EQ(r.previous.wave, 0u);
  EXPECT_EQ(r.previous.access, abi::kAccessWrite);
  EXPECT_EQ(r.workgroup[0], 7u);
  EXPECT_EQ(r.workgroup[2], 9u);
  EXPECT_EQ(Counters.checkedAccesses, 2u);
  EXPECT_EQ(Counters.racesSeen, 64u);
}
TEST_F(NativeHooksTest, SyncMakesItCleanAndCounts) {
  start(2);
  for (int i = 0; i < 100; ++i) {
    access(i % 2, abi::kAccessWrite, 3);
    sync();
    access(1 - i % 2, abi::kAccessRead, 4);
    sync();
  }
  finish();
  EXPECT_TRUE(races().empty());
  EXPECT_EQ(Counters.checkedAccesses, 200u);
  EXPECT_EQ(Counters.historyOverflow, 0u);
}
TEST_F(NativeHooksTest, ShadowIsFreshForTheNextWorkgroup) {
  start(2);
  access(0, abi::kAccessWrite, 3);
  finish();
  start(2);
  access(1, abi::kAccessRead, 4);
  finish();
  EXPECT_TRUE(races().empty());
}
TEST_F(NativeHooksTest, InactiveLanesDoNotCount) {
  start(2);
  access(0, abi::kAccessWrite, 3, 4, 0x1);
  access(1, abi::kAccessRead, 4, 4, ~1ull);
  finish();
  EXPECT_TRUE(races().empty());
  EXPECT_EQ(Counters.checkedAccesses, 2u);
}
TEST_F(NativeHooksTest, GenericPointersAreCheckedOnlyWhereTheyPointIntoLds) {
  start(2);
  int elsewhere = 0;
  auto generic = [&](uint32_t wave, uint32_t bits, uint32_t site, bool lds) {
    uint64_t address[64];
    for (auto &a : address)
      a = lds ? reinterpret_cast<uint64_t>(Lds.data()) + 16 : reinterpret_cast<uint64_t>(&elsewhere);
    with(wave, [&](WaveView &v) { Hooks->genericAccess(v, 1, address, abi::accessInfo(bits, 4), site); });
  };
  generic(0, abi::kAccessWrite, 1, false);
  generic(1, abi::kAccessWrite, 2, false);
  EXPECT_TRUE(races().empty());
  generic(0, abi::kAccessWrite, 1, true);
  generic(1, abi::kAccessWrite, 2, true);
  finish();
  ASSERT_EQ(races().size(), 1u);
  EXPECT_EQ(races()[0].address, 16u);
  EXPECT_EQ(races()[0].variableOffset, abi::kNoVariable);
  EXPECT_EQ(Counters.checkedAccesses, 2u);
}
TEST_F(NativeHooksTest, RangesOfAnyLength) {
  start(2, 0);
  uint32_t address[64] = {10};
  uint64_t length[64] = {7};
  with(0, [&](WaveView &v) { Hooks->ldsRange(v, 1, address, length, abi::kAccessWrite, 1, 8); });
  address[0] = 16;
  length[0] = 100;
  with(1, [&](WaveView &v) { Hooks->ldsRange(v, 1, address, length, abi::kAccessRead, 2, 8); });
  finish();
  ASSERT_EQ(races().size(), 1u);
  EXPECT_EQ(races()[0].address, 16u);
  EXPECT_EQ(races()[0].size, 1u);
  EXPECT_EQ(races()[0].variableOffset, 8u);
}
TEST_F(NativeHooksTest, WaveEndsWithItsLastLane) {
  start(2);
  access(0, abi::kAccessWrite, 1, 4, 1);
  with(0, [&](WaveView &v) { Hooks->kernelEnd(v, 0xffffffffull); });
  // Half of wave 0 still runs: its access stays live over bare barriers.
  with(1, [&](WaveView &v) {
    Hooks->barrierArrive(v, ~0ull, 0);
    Hooks->barrierLeave(v, ~0ull, 0);
  });
  access(1, abi::kAccessRead, 2, 4, 1);
  EXPECT_EQ(races().size(), 1u);
  with(0, [&](WaveView &v) { Hooks->kernelEnd(v, 0xffffffff00000000ull); });
  with(1, [&](WaveView &v) {
    Hooks->barrierArrive(v, ~0ull, 0);
    Hooks->barrierLeave(v, ~0ull, 0);
  });
  access(1, abi::kAccessRead, 3, 4, 1);
  EXPECT_EQ(races().size(), 1u);
  Hooks->workgroupEnd(Data);
}
TEST_F(NativeHooksTest, FullTableIsCounted) {
  start(2);
  for (uint32_t site = 0; site < 40; ++site)
    access(site & 1, abi::kAccessWrite, site, 4, 1);
  finish();
  EXPECT_EQ(races().size(), Capacity);
  EXPECT_GT(Counters.racesDropped, 0u);
}

} // namespace
} // namespace wavesan::cpu
