// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waves that atomics on LDS order: what a cell must keep although the accessor knows it, and what fences make known.
#include "native_hooks_fixture.h"

namespace wavesan::cpu {
namespace {

class LdsFlags : public NativeHooksTest {
protected:
  static constexpr uint32_t kFlag = 256, kOther = 260, kData = 0;
  static constexpr uint32_t kBoth = abi::kFenceLds | abi::kFenceGlobal;
  void write(uint32_t wave, uint32_t site) { access(wave, abi::kAccessWrite, site, 4, 1, kData); }
  void read(uint32_t wave, uint32_t site) { access(wave, abi::kAccessRead, site, 4, 1, kData); }
  void add(uint32_t wave, uint32_t site, uint32_t at = kData, bool acquire = false, bool release = false) {
    ldsAtomic(wave, abi::kAccessRead | abi::kAccessWrite, site, abi::Scope::Workgroup, acquire, release, at);
  }
  void release(uint32_t wave, uint32_t at = kFlag, bool orders = true) {
    ldsAtomic(wave, abi::kAccessWrite, 90, abi::Scope::Workgroup, false, orders, at);
  }
  void acquire(uint32_t wave, uint32_t at = kFlag, bool orders = true) {
    ldsAtomic(wave, abi::kAccessRead, 91, abi::Scope::Workgroup, orders, false, at);
  }
  void fence(uint32_t wave, uint32_t bits, uint32_t spaces = kBoth) {
    with(wave, [&](WaveView &v) { Hooks->fence(v, 1, abi::fenceInfo(bits | spaces, abi::Scope::Workgroup)); });
  }
};

TEST_F(LdsFlags, AnAtomicTakesNoPlaceOfAPlainAccessThatOthersDoNotKnow) {
  start(3);
  write(0, 1);
  release(0);
  acquire(1);
  add(1, 2); // ordered behind the store
  add(2, 3); // in order with wave 1's atomic only
  finish();
  ASSERT_EQ(races().size(), 1u);
  EXPECT_EQ(races()[0].previous.site, 1u);
  EXPECT_EQ(races()[0].current.site, 3u);
}

TEST_F(LdsFlags, NorOfItsOwnWaveOnceItHasComeBack) {
  start(3);
  write(0, 1);
  release(0);
  acquire(1);
  release(1, kOther);
  acquire(0, kOther); // now wave 0 knows that wave 1 knows
  add(0, 2);
  add(2, 3);
  finish();
  ASSERT_EQ(races().size(), 1u);
  EXPECT_EQ(races()[0].previous.site, 1u);
}

TEST_F(LdsFlags, APlainAccessDoes) {
  start(3);
  write(0, 1);
  release(0);
  acquire(1);
  write(1, 2);
  release(1, kOther);
  acquire(2, kOther);
  write(2, 3);
  finish();
  EXPECT_EQ(races().size(), 0u);
  EXPECT_EQ(Counters.historyOverflow, 0u);
}

TEST_F(LdsFlags, WhatABarrierRetiredStandsForNothingOfItsOwnWave) {
  start(3);
  add(1, 1);
  sync();
  write(0, 2);
  sync();
  add(1, 3);
  add(0, 4);
  read(2, 5);
  finish();
  const auto found = races();
  ASSERT_EQ(found.size(), 2u);
  for (const abi::RaceRecord &r : found) {
    EXPECT_TRUE(r.previous.site == 3 || r.previous.site == 4);
    EXPECT_EQ(r.current.site, 5u);
  }
}

TEST_F(LdsFlags, AFenceOfGlobalMemoryAcquiresNoLds) {
  start(2);
  write(0, 1);
  release(0);
  acquire(1, kFlag, false);
  fence(1, abi::kFenceAcquire, abi::kFenceGlobal);
  read(1, 2);
  fence(1, abi::kFenceAcquire, abi::kFenceLds); // what has been read is not forgotten
  const size_t before = races().size();
  read(1, 3);
  finish();
  EXPECT_EQ(before, 1u);
  EXPECT_EQ(races().size(), 1u);
}

TEST_F(LdsFlags, AFenceOfGlobalMemoryReleasesNoLds) {
  for (const uint32_t spaces : {uint32_t(abi::kFenceGlobal), uint32_t(abi::kFenceLds)}) {
    start(2);
    write(0, 1);
    fence(0, abi::kFenceAcquire); // complete, which is not released
    fence(0, abi::kFenceRelease, spaces);
    release(0, kFlag, false);
    acquire(1);
    read(1, 2);
    finish();
    EXPECT_EQ(races().size(), spaces == abi::kFenceGlobal ? 1u : 0u);
  }
}

TEST_F(LdsFlags, AFenceForOneSpaceTakesNothingBack) {
  start(2);
  write(0, 1);
  fence(0, abi::kFenceRelease);
  with(0, [&](WaveView &v) {
    Hooks->fence(v, 1, abi::fenceInfo(abi::kFenceRelease | abi::kFenceGlobal, abi::Scope::Agent));
  });
  release(0, kFlag, false);
  acquire(1);
  read(1, 2);
  finish();
  EXPECT_EQ(races().size(), 0u);
}

TEST_F(LdsFlags, OneFencePassesOnWhatItAcquires) {
  start(3);
  write(0, 1);
  release(0);
  acquire(1, kFlag, false);
  fence(1, abi::kFenceAcquire | abi::kFenceRelease);
  release(1, kOther, false);
  acquire(2, kOther);
  read(2, 2);
  finish();
  EXPECT_EQ(races().size(), 0u);
}

} // namespace
} // namespace wavesan::cpu
