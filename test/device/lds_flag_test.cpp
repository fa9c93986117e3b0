// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What atomics on LDS order on a GPU, pattern by pattern: the device runtime, compiled for the host with waves of one
// lane. lds_flag_property_test.cpp has random programs.
#include "global_dispatch.h"

#include "wavesan/abi/lds_order.h"

#include <memory>

namespace wavesan {
namespace {

using namespace test;
using namespace device;

class LdsFlags : public WithLds {
protected:
  static constexpr uint32_t kFlag = 256, kOther = 260, kData = 0, kBytes = 512;
  static constexpr uint32_t kRead = abi::kAccessRead, kWrite = abi::kAccessWrite, kBoth = kRead | kWrite;
  static constexpr uint32_t kAcquire = abi::kFenceAcquire, kRelease = abi::kFenceRelease;
  alignas(256) static inline uint32_t Global[64];

  void start(uint32_t waves, uint32_t groups = 1) {
    Pool.assign(groups << 16, 0x5a);
    std::fill(std::begin(Locks), std::end(Locks), 0u); // workgroups that have not ended
    D = std::make_unique<Dispatch>(groups, waves, 64, 8, 5, nullptr, 0, ~0u, [&](abi::DispatchContext &c) {
      c.ldsBytes = kBytes;
      c.granuleLog2 = 2;
      c.slotPool = uint64_t(Pool.data());
      c.slotLocks = uint64_t(Locks);
      c.slotCount = groups;
      c.slotBytes = 1 << 16;
      c.flags = abi::kContextCellsInLds;
      c.ldsOrder = 1;
    });
  }
  PrivateState *state(uint32_t wave, uint32_t group = 0) { return D->state(group, wave); }
  void access(uint32_t wave, uint32_t bits, uint32_t at = kData, uint32_t group = 0) {
    __wavesan_check_ordered(at, 0, 4, state(wave, group)->record, Operation(Site++, abi::accessInfo(bits, 4)).bits, 0);
  }
  void atomic(uint32_t wave, uint32_t bits, bool acquire, bool release, uint32_t at = kFlag,
              abi::Scope scope = abi::Scope::Workgroup, uint32_t group = 0) {
    const uint32_t info = abi::atomicInfo(bits | abi::kAccessAtomic, 4, scope, acquire, release);
    constexpr uint32_t all = abi::kFenceLds | abi::kFenceGlobal | abi::kFenceImplied;
    if (release)
      __wavesan_fence(state(wave, group), abi::fenceInfo(abi::kFenceRelease | all, scope));
    __wavesan_check_ordered(at, 0, 4, state(wave, group)->record, Operation(Site++, info).bits, 0);
    __wavesan_lds_begin(state(wave, group)->record);
    __wavesan_lds_done(at, state(wave, group)->record, info, (bits & kWrite) != 0);
    if (acquire)
      __wavesan_fence(state(wave, group), abi::fenceInfo(abi::kFenceAcquire | all, scope));
  }
  void release(uint32_t wave, uint32_t at = kFlag) { atomic(wave, kWrite, false, true, at); }
  void acquire(uint32_t wave, uint32_t at = kFlag) { atomic(wave, kRead, true, false, at); }
  void fence(uint32_t wave, uint32_t bits, abi::Scope scope = abi::Scope::Workgroup) {
    __wavesan_fence(state(wave), abi::fenceInfo(bits | abi::kFenceLds | abi::kFenceGlobal, scope));
  }
  size_t races() { return D->races().size(); }
  uint32_t Site = 0;
  std::unique_ptr<Dispatch> D;
  std::vector<char> Pool;
  uint32_t Locks[4] = {};
};

TEST_F(LdsFlags, AFlagOrders) {
  start(3);
  access(0, kWrite);
  release(0);
  acquire(1);
  access(1, kRead);
  D->expectClean();
  access(2, kRead);
  EXPECT_EQ(races(), 1u) << "the third wave has acquired nothing";
}

TEST_F(LdsFlags, ARelaxedLoadOrdersNothingAndAFenceBehindItDoes) {
  start(2);
  access(0, kWrite);
  release(0);
  atomic(1, kRead, false, false);
  access(1, kRead);
  EXPECT_EQ(races(), 1u);
  fence(1, kAcquire);
  access(1, kWrite);
  EXPECT_EQ(races(), 1u);
}

TEST_F(LdsFlags, AFenceReleasesWhatStandsBeforeItOnly) {
  start(2);
  access(0, kWrite);
  fence(0, kRelease);
  access(0, kWrite, kOther + 4);
  atomic(0, kWrite, false, false);
  acquire(1);
  access(1, kRead);
  EXPECT_EQ(races(), 0u);
  access(1, kRead, kOther + 4);
  EXPECT_EQ(races(), 1u);
}

TEST_F(LdsFlags, ReadModifyWritesContinueAndStoresEndTheSequence) {
  for (const uint32_t bits : {kBoth, kWrite}) {
    start(3);
    access(0, kWrite);
    release(0);
    atomic(1, bits, false, false);
    acquire(2);
    access(2, kRead);
    EXPECT_EQ(races(), bits == kWrite ? 1u : 0u);
  }
}

TEST_F(LdsFlags, AStoreOfANarrowScopeEndsItAsWell) {
  start(3);
  access(0, kWrite);
  release(0);
  atomic(1, kWrite, false, true, kFlag, abi::Scope::Wavefront);
  const size_t before = races(); // the flag itself: atomics of one wave's scope exclude nobody
  acquire(2);
  access(2, kRead);
  EXPECT_GT(races(), before);
  for (const abi::RaceRecord &r : D->races())
    EXPECT_TRUE(r.address == kFlag || r.address == kData);
}

TEST_F(LdsFlags, AnAtomicTakesNoPlaceOfAPlainAccessThatOthersDoNotKnow) {
  start(3);
  access(0, kWrite);
  release(0);
  acquire(1);
  atomic(1, kBoth, false, false, kData);
  EXPECT_EQ(races(), 0u);
  atomic(2, kBoth, false, false, kData);
  EXPECT_EQ(races(), 1u);
}

TEST_F(LdsFlags, AFlagOrdersGlobalMemoryToo) {
  start(3);
  D->wave(0, 0).write(Global);
  release(0);
  acquire(1);
  D->wave(0, 1).write(Global);
  D->expectClean();
  D->wave(0, 2).read(Global);
  EXPECT_EQ(races(), 1u);
}

TEST_F(LdsFlags, AFlagInGlobalMemoryPassesOnWhatOneInLdsDid) {
  start(2, 2);
  D->wave(0, 0).write(Global);
  release(0);
  acquire(1);
  D->wave(0, 1).store(Global + 32, true);
  D->wave(1, 0).load(Global + 32, true);
  D->wave(1, 0).read(Global);
  D->expectClean();
  D->wave(1, 1).read(Global);
  EXPECT_EQ(races(), 1u);
}

TEST_F(LdsFlags, OneFenceActsForBothMemories) {
  start(2, 2);
  D->wave(0, 0).write(Global);
  release(0);
  atomic(1, kRead, false, false);
  D->wave(0, 1).threadfence();
  D->wave(0, 1).store(Global + 32, false);
  D->wave(1, 0).load(Global + 32, true);
  D->wave(1, 0).read(Global);
  D->expectClean();
}

TEST_F(LdsFlags, WhatAFenceDidNotKnowItsStoreDoesNotPassOn) {
  start(2, 2);
  D->wave(0, 0).write(Global);
  release(0);
  D->wave(0, 1).threadfence();
  acquire(1);
  D->wave(0, 1).store(Global + 32, false);
  D->wave(1, 0).load(Global + 32, true);
  D->wave(1, 0).read(Global);
  EXPECT_EQ(races(), 1u);
}

TEST_F(LdsFlags, WorkgroupsHaveTheirOwn) {
  start(2, 2);
  D->wave(0, 0).write(Global);
  atomic(0, kWrite, false, true);
  atomic(1, kRead, true, false, kFlag, abi::Scope::Workgroup, 1);
  D->wave(1, 1).read(Global);
  EXPECT_EQ(races(), 1u);
}

TEST_F(LdsFlags, MoreFlagsThanTheTableHasAreCountedAndOrderNothing) {
  start(2);
  for (uint32_t i = 0; i < abi::kLdsFlags; ++i)
    release(0, i * 4);
  EXPECT_EQ(D->counters().orderUnknown, 0u);
  access(0, kWrite, 400);
  release(0, 404);
  EXPECT_EQ(D->counters().orderUnknown, 1u);
  acquire(1, 404);
  access(1, kRead, 400);
  EXPECT_EQ(races(), 1u) << "never a false clean";
}

TEST_F(LdsFlags, ALostReaderIsCountedWhenSomebodyWrites) {
  start(5);
  access(0, kWrite);
  release(0);
  for (uint32_t w = 1; w < 4; ++w) {
    acquire(w);
    access(w, kRead); // the third of them finds two
  }
  D->expectClean();
  for (uint32_t w = 1; w < 3; ++w)
    atomic(w, kBoth, false, true, kOther);
  acquire(4, kOther);
  access(4, kWrite); // behind the two, not behind the third
  EXPECT_TRUE(races() != 0 || D->counters().historyOverflow != 0);
}

TEST_F(LdsFlags, ADispatchThatDelaysLeavesTheLockAlone) {
  start(2);
  auto *head = ldsAt<abi::WorkgroupState>(uint32_t(kLdsAt));
  head->ldsOrder = 0; // as kernel_begin leaves it then
  __wavesan_lds_begin(state(0)->record);
  EXPECT_EQ(head->ldsOrderLock, 0u);
}

} // namespace
} // namespace wavesan
