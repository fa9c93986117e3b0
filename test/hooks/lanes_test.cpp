// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes of one wave against one another: by the language, and in divergent arms.
#include "lane_order.h"
#include "native_hooks_fixture.h"

namespace wavesan::cpu {
namespace {

class LanesTest : public NativeHooksTest {
protected:
  /// Lane i accesses the dword of lane (i + shift) % 64.
  void shifted(uint32_t bits, uint32_t site, uint32_t shift, LaneMask exec = ~0ull, LaneOrder *arms = nullptr) {
    uint32_t address[64];
    for (uint32_t i = 0; i < 64; ++i)
      address[i] = (i + shift) % 64 * 4;
    with(0, [&](WaveView &v) {
      v.arms = arms;
      v.contested = arms != nullptr;
      Hooks->ldsAccess(v, exec, address, abi::accessInfo(bits, 4), site, 0);
    });
  }
  static constexpr uint32_t kRelease = abi::kFenceRelease | abi::kFenceLds,
                            kAcquire = abi::kFenceAcquire | abi::kFenceLds;
  void fence(uint32_t bits, abi::Scope scope) {
    with(0, [&](WaveView &v) { Hooks->fence(v, ~0ull, abi::fenceInfo(bits, scope)); });
  }
};

TEST_F(LanesTest, TheHardwareOrdersLanesTheLanguageDoesNot) {
  for (bool language : {false, true}) {
    Flags = language ? abi::kContextLanguageOrder : 0u;
    start(1);
    shifted(abi::kAccessWrite, 3, 0);
    shifted(abi::kAccessRead, 4, 33);
    finish();
    ASSERT_EQ(races().size(), language ? 1u : 0u);
    if (!language)
      continue;
    const abi::RaceRecord r = races()[0];
    EXPECT_EQ(r.raceClass, uint32_t(abi::RaceClass::Race));
    EXPECT_EQ(r.current.wave, r.previous.wave);
    EXPECT_EQ(r.current.lane, 0u);
    EXPECT_EQ(r.previous.lane, 33u);
    EXPECT_EQ(r.address, 33u * 4);
    EXPECT_EQ(r.size, 4u);
    EXPECT_EQ(r.count, 64u);
  }
}
TEST_F(LanesTest, ALanesOwnOrderStays) {
  Flags = abi::kContextLanguageOrder;
  start(1);
  shifted(abi::kAccessWrite, 3, 0);
  shifted(abi::kAccessRead, 4, 0);
  shifted(abi::kAccessWrite, 5, 0);
  finish();
  EXPECT_TRUE(races().empty());
}
TEST_F(LanesTest, ReadsDoNotConflictAndReadersAreRemembered) {
  Flags = abi::kContextLanguageOrder;
  start(1);
  shifted(abi::kAccessRead, 3, 0);
  shifted(abi::kAccessRead, 4, 1);
  EXPECT_TRUE(races().empty());
  shifted(abi::kAccessWrite, 5, 0);
  finish();
  ASSERT_EQ(races().size(), 1u);
  EXPECT_EQ(races()[0].previous.site, 4u);
}
TEST_F(LanesTest, WhatOrdersLanesInTheLanguage) {
  Flags = abi::kContextLanguageOrder;
  enum { WaveBarrier, WorkgroupFence, WaveFence, LaneFence, Barrier, HalfOfThem };
  for (int how : {WaveBarrier, WorkgroupFence, WaveFence, LaneFence, Barrier, HalfOfThem}) {
    start(1);
    shifted(abi::kAccessWrite, 3, 0);
    switch (how) {
    case WaveBarrier:
      with(0, [&](WaveView &v) { Hooks->lanesMeet(v, ~0ull); });
      break;
    case WorkgroupFence:
      fence(kRelease, abi::Scope::Workgroup);
      break;
    case WaveFence:
      fence(kAcquire, abi::Scope::Wavefront);
      break;
    case LaneFence:
      fence(kAcquire, abi::Scope::SingleThread);
      break;
    case Barrier:
      sync();
      break;
    case HalfOfThem:
      with(0, [&](WaveView &v) { Hooks->lanesMeet(v, 0xffffffffull); });
      break;
    }
    shifted(abi::kAccessRead, 4, 32);
    finish();
    EXPECT_EQ(races().empty(), how != LaneFence && how != HalfOfThem) << how;
  }
}
TEST_F(LanesTest, AtomicsOfTheWaveExcludeOneAnother) {
  Flags = abi::kContextLanguageOrder;
  for (abi::Scope scope : {abi::Scope::SingleThread, abi::Scope::Wavefront}) {
    start(1);
    for (uint32_t site : {3, 4}) {
      uint32_t address[64] = {};
      with(0, [&](WaveView &v) {
        Hooks->ldsAccess(
            v, LaneMask(1) << site, address,
            abi::atomicInfo(abi::kAccessRead | abi::kAccessWrite | abi::kAccessAtomic, 4, scope, false, false), site,
            0);
      });
    }
    finish();
    EXPECT_EQ(races().empty(), scope == abi::Scope::Wavefront);
  }
}
TEST_F(LanesTest, BytesAreCompared) {
  Flags = abi::kContextLanguageOrder;
  for (uint32_t at : {1, 2}) {
    start(1, 0);
    uint32_t address[64] = {};
    with(0, [&](WaveView &v) { Hooks->ldsAccess(v, 1, address, abi::accessInfo(abi::kAccessWrite, 2), 3, 0); });
    address[1] = at;
    with(0, [&](WaveView &v) { Hooks->ldsAccess(v, 2, address, abi::accessInfo(abi::kAccessRead, 4), 4, 0); });
    finish();
    ASSERT_EQ(races().size(), at == 1 ? 1u : 0u);
    if (at == 1) {
      EXPECT_EQ(races()[0].address, 1u);
      EXPECT_EQ(races()[0].size, 1u);
    }
  }
}
TEST_F(LanesTest, GlobalMemoryAndRangesToo) {
  Flags = abi::kContextLanguageOrder;
  static int memory[64];
  start(1);
  uint64_t address[64], length[64];
  for (uint32_t i = 0; i < 64; ++i) {
    address[i] = reinterpret_cast<uint64_t>(memory + i / 2 * 2);
    length[i] = 8;
  }
  // Lanes of one copy are not compared with one another; those of its two halves are.
  with(0, [&](WaveView &v) { Hooks->globalRange(v, ~0ull, address, length, abi::accessInfo(abi::kAccessRead, 0), 3); });
  EXPECT_TRUE(races().empty());
  with(0,
       [&](WaveView &v) { Hooks->globalRange(v, ~0ull, address, length, abi::accessInfo(abi::kAccessWrite, 0), 4); });
  finish();
  ASSERT_EQ(races().size(), 1u);
  EXPECT_EQ(races()[0].space, uint32_t(abi::RaceSpace::Global));
  EXPECT_EQ(races()[0].size, 8u);
}
TEST_F(LanesTest, ArmsOfABranchAreUnorderedUntilTheyJoin) {
  LaneOrder arms;
  arms.start(~0ull);
  start(1);
  shifted(abi::kAccessWrite, 3, 32, 0xffffffffull, &arms); // dwords of the upper half
  arms.meet(0xffffffff00000000ull);                        // the other arm
  shifted(abi::kAccessRead, 4, 0, 0xffffffff00000000ull, &arms);
  ASSERT_EQ(races().size(), 1u);
  EXPECT_EQ(races()[0].raceClass, uint32_t(abi::RaceClass::WaveOrder));
  arms.meet(~0ull);
  shifted(abi::kAccessRead, 5, 0, ~0ull, &arms);
  finish();
  EXPECT_EQ(races().size(), 1u);
}
TEST_F(LanesTest, AnAcquireInAnArmOrdersIt) {
  LaneOrder arms;
  arms.start(~0ull);
  start(1);
  shifted(abi::kAccessWrite, 3, 32, 0xffffffffull, &arms);
  arms.meet(0xffffffff00000000ull);
  with(0, [&](WaveView &v) {
    v.arms = &arms;
    Hooks->fence(v, 0xffffffff00000000ull, abi::fenceInfo(kAcquire, abi::Scope::Workgroup));
  });
  shifted(abi::kAccessRead, 4, 0, 0xffffffff00000000ull, &arms);
  finish();
  EXPECT_TRUE(races().empty());
}

} // namespace
} // namespace wavesan::cpu
