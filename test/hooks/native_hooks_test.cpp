// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native hooks driven as the engine drives them, wave by wave.
#include "native_hooks_fixture.h"

#include <set>

namespace wavesan::cpu {
namespace {

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
  int elsewhere[2] = {};
  auto generic = [&](uint32_t wave, uint32_t bits, uint32_t site, bool lds) {
    uint64_t address[64];
    for (auto &a : address)
      a = lds ? reinterpret_cast<uint64_t>(Lds.data()) + 16 : reinterpret_cast<uint64_t>(&elsewhere[wave]);
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
  EXPECT_EQ(Counters.checkedAccesses, 4u);
  EXPECT_EQ(Counters.globalAccesses, 2u);
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
TEST_F(NativeHooksTest, WorkgroupsRaceOnGlobalMemory) {
  std::vector<int> memory(256);
  start(2);
  global(1, abi::kAccessWrite, 3, memory.data());
  nextGroup();
  global(0, abi::kAccessRead, 4, memory.data() + 32);
  finish();
  ASSERT_EQ(races().size(), 1u);
  const abi::RaceRecord r = races()[0];
  EXPECT_EQ(r.space, uint32_t(abi::RaceSpace::Global));
  EXPECT_EQ(r.workgroup[0], 8u);
  EXPECT_EQ(r.previousWorkgroup[0], 7u);
  EXPECT_EQ(r.previousWorkgroup[1], 8u);
  EXPECT_EQ(r.address, reinterpret_cast<uint64_t>(memory.data() + 32));
  EXPECT_EQ(r.previous.wave, 1u);
  EXPECT_EQ(r.previous.lane, 32u);
  EXPECT_EQ(r.current.lane, 0u);
  EXPECT_EQ(Counters.checkedAccesses, 2u);
  EXPECT_EQ(Counters.globalAccesses, 2u);
  EXPECT_EQ(Counters.checkedSpaces, uint64_t(abi::kChecksLds | abi::kChecksGlobal | abi::kChecksCopies | abi::kFollowsNamedBarriers));
}
TEST_F(NativeHooksTest, ReleaseAcquireOrdersWorkgroups) {
  std::vector<int> memory(256);
  int flag = 0;
  for (bool release : {true, false}) {
    start(1);
    global(0, abi::kAccessWrite, 3, memory.data());
    atomic(0, abi::kAccessWrite, 5, &flag, false, release);
    nextGroup();
    atomic(0, abi::kAccessRead, 6, &flag, true, false);
    global(0, abi::kAccessRead, 4, memory.data());
    finish();
    EXPECT_EQ(races().empty(), release);
    Hooks->dispatchEnd(Dispatch);
    Dispatch = nullptr;
  }
}
TEST_F(NativeHooksTest, WorkgroupScopeBetweenWorkgroupsIsTooSmall) {
  std::vector<int> memory(256);
  int flag = 0;
  start(1);
  global(0, abi::kAccessWrite, 3, memory.data());
  atomic(0, abi::kAccessWrite | abi::kAccessRead, 5, &flag, false, true, abi::Scope::Workgroup);
  nextGroup();
  atomic(0, abi::kAccessRead, 6, &flag, true, false, abi::Scope::Workgroup);
  global(0, abi::kAccessRead, 4, memory.data());
  finish();
  bool found = false;
  for (const abi::RaceRecord &r : races())
    if (r.current.site == 4) {
      found = true;
      EXPECT_EQ(r.raceClass, uint32_t(abi::RaceClass::ScopeTooSmall));
      EXPECT_EQ(r.neededScope, uint32_t(abi::Scope::Agent));
    }
  EXPECT_TRUE(found);
}
TEST_F(NativeHooksTest, AtomicsOnLdsExcludeOneAnotherFromWorkgroupScopeOn) {
  for (abi::Scope scope : {abi::Scope::SingleThread, abi::Scope::Wavefront, abi::Scope::Workgroup, abi::Scope::System}) {
    start(2);
    ldsAtomic(0, abi::kAccessRead | abi::kAccessWrite, 5, scope, false, false);
    ldsAtomic(1, abi::kAccessRead | abi::kAccessWrite, 6, scope, false, false);
    finish();
    EXPECT_EQ(races().empty(), scope >= abi::Scope::Workgroup) << int(scope);
  }
}
TEST_F(NativeHooksTest, AFlagInLdsOfTooSmallAScope) {
  for (abi::Scope scope : {abi::Scope::Wavefront, abi::Scope::Workgroup}) {
    start(2);
    access(0, abi::kAccessWrite, 3, 4, 1, 64);
    ldsAtomic(0, abi::kAccessWrite, 5, scope, false, true);
    ldsAtomic(1, abi::kAccessRead, 6, scope, true, false);
    access(1, abi::kAccessRead, 4, 4, 1, 64);
    finish();
    bool data = false;
    for (const abi::RaceRecord &r : races())
      if (r.current.site == 4) {
        data = true;
        EXPECT_EQ(r.raceClass, uint32_t(abi::RaceClass::ScopeTooSmall));
        EXPECT_EQ(r.neededScope, uint32_t(abi::Scope::Workgroup));
      }
    EXPECT_EQ(data, scope == abi::Scope::Wavefront);
    EXPECT_EQ(races().size(), scope == abi::Scope::Wavefront ? 2u : 0u);
  }
}
TEST_F(NativeHooksTest, ABareBarrierIsNoMatterOfScopes) {
  start(2);
  access(0, abi::kAccessWrite, 3);
  for (uint32_t w = 0; w < 2; ++w)
    with(w, [&](WaveView &v) { Hooks->barrierArrive(v, ~0ull, 0); });
  for (uint32_t w = 0; w < 2; ++w)
    with(w, [&](WaveView &v) { Hooks->barrierLeave(v, ~0ull, 0); });
  access(1, abi::kAccessRead, 4);
  finish();
  ASSERT_EQ(races().size(), 1u);
  EXPECT_EQ(races()[0].raceClass, uint32_t(abi::RaceClass::MissingFence));
}
TEST_F(NativeHooksTest, ABudgetThatIsUsedUpIsCountedNeverExceeded) {
  Budget = 4095; // less than the shadow of LDS needs
  alignas(64) static int memory[64];
  start(2);
  access(0, abi::kAccessWrite, 3);
  access(1, abi::kAccessRead, 4);
  global(0, abi::kAccessWrite, 5, memory);
  global(1, abi::kAccessRead, 6, memory);
  finish();
  EXPECT_TRUE(races().empty());
  EXPECT_EQ(Counters.outsideBudget, 128u + 64 / 16 * 2); // lanes of LDS, lines of global memory
  EXPECT_EQ(Counters.outsideShadow, 0u);
}
TEST_F(NativeHooksTest, WhereAReleaseIsLostNothingIsReportedThatItMayHaveOrdered) {
  static std::vector<int> flags((64 << 10) + 1);
  alignas(64) static int payload[64], other[64], before[64];
  for (const bool lost : {true, false}) {
    Budget = lost ? uint64_t(1) << 20 : uint64_t(1) << 30;
    start(2);
    global(0, abi::kAccessWrite, 1, before);
    global(1, abi::kAccessRead, 2, before); // a race for sure: nothing has been lost yet
    for (size_t i = 0; i + 1 < flags.size(); ++i)
      atomic(0, abi::kAccessWrite, 3, &flags[i], false, true);
    // Passed on through the last flag, which has found no room.
    global(0, abi::kAccessWrite, 4, payload);
    atomic(0, abi::kAccessWrite, 5, &flags.back(), false, true);
    atomic(1, abi::kAccessRead, 6, &flags.back(), true, false);
    global(1, abi::kAccessRead, 7, payload);
    global(0, abi::kAccessWrite, 8, other);
    global(1, abi::kAccessRead, 9, other); // looks unordered, and is
    finish();
    EXPECT_EQ(Counters.orderUnknown != 0, lost);
    std::set<uint32_t> sites;
    for (const abi::RaceRecord &r : races())
      sites.insert(r.current.site);
    EXPECT_EQ(sites, lost ? std::set<uint32_t>{2} : (std::set<uint32_t>{2, 9})) << lost;
    Hooks->dispatchEnd(std::exchange(Dispatch, nullptr));
  }
}
TEST_F(NativeHooksTest, LastBlockMayResetItsTicketWithAPlainStore) {
  for (bool fenced : {true, false}) {
    int ticket = 0;
    start(1);
    const uint32_t fence = abi::fenceInfo(
        abi::kFenceAcquire | abi::kFenceRelease | abi::kFenceLds | abi::kFenceGlobal, abi::Scope::Agent);
    for (int group = 0; group < 4; ++group) {
      if (group)
        nextGroup();
      with(0, [&](WaveView &v) { Hooks->fence(v, 1, fence); });
      atomic(0, abi::kAccessRead | abi::kAccessWrite, 5, &ticket, false, false);
      if (fenced)
        with(0, [&](WaveView &v) { Hooks->fence(v, 1, fence); });
    }
    uint64_t address[64] = {reinterpret_cast<uint64_t>(&ticket)};
    with(0, [&](WaveView &v) { Hooks->globalAccess(v, 1, address, abi::accessInfo(abi::kAccessWrite, 4), 6); });
    finish();
    EXPECT_EQ(races().empty(), fenced);
    Hooks->dispatchEnd(Dispatch);
    Dispatch = nullptr;
  }
}
TEST_F(NativeHooksTest, AnotherAtomicThatNobodyReadIsNotOrderedByTheTicket) {
  int ticket = 0, sum = 0;
  start(1);
  const uint32_t fence =
      abi::fenceInfo(abi::kFenceAcquire | abi::kFenceRelease | abi::kFenceLds | abi::kFenceGlobal, abi::Scope::Agent);
  with(0, [&](WaveView &v) { Hooks->fence(v, 1, fence); });
  atomic(0, abi::kAccessRead | abi::kAccessWrite, 7, &sum, false, false); // behind the fence
  atomic(0, abi::kAccessRead | abi::kAccessWrite, 5, &ticket, false, false);
  nextGroup();
  atomic(0, abi::kAccessRead | abi::kAccessWrite, 5, &ticket, false, false);
  with(0, [&](WaveView &v) { Hooks->fence(v, 1, fence); });
  uint64_t address[64] = {reinterpret_cast<uint64_t>(&sum)};
  with(0, [&](WaveView &v) { Hooks->globalAccess(v, 1, address, abi::accessInfo(abi::kAccessRead, 4), 6); });
  finish();
  EXPECT_FALSE(races().empty());
}
TEST_F(NativeHooksTest, PrivateMemoryIsNeitherLdsNorGlobal) {
  start(2);
  int elsewhere[64] = {};
  uint64_t address[64];
  for (auto &a : address)
    a = reinterpret_cast<uint64_t>(elsewhere);
  for (uint32_t w = 0; w < 2; ++w) {
    WaveView v{Lds.data(), uint32_t(Lds.size()), {Group, 8, 9}, w, 64, Waves, address[0], sizeof(elsewhere), Data, Dispatch};
    Hooks->genericAccess(v, ~0ull, address, abi::accessInfo(abi::kAccessWrite, 4), w);
  }
  finish();
  EXPECT_TRUE(races().empty());
}
TEST_F(NativeHooksTest, FlagInLdsOrdersWaves) {
  start(2);
  const uint64_t flag[64] = {reinterpret_cast<uint64_t>(Lds.data()) + 256};
  const uint32_t both = abi::kFenceLds | abi::kFenceGlobal | abi::kFenceImplied;
  auto flagOperation = [&](uint32_t wave, uint32_t bits, bool acquire, bool release) {
    const uint32_t info = abi::atomicInfo(bits | abi::kAccessAtomic, 4, abi::Scope::Workgroup, acquire, release);
    with(wave, [&](WaveView &v) {
      if (release)
        Hooks->fence(v, 1, abi::fenceInfo(abi::kFenceRelease | both, abi::Scope::Workgroup));
      Hooks->genericAccess(v, 1, flag, info, 9);
      Hooks->atomicDone(v, 1, flag, info, 9, bits & abi::kAccessWrite ? 1 : 0);
    });
  };
  access(0, abi::kAccessWrite, 3, 4, 0xff);
  flagOperation(0, abi::kAccessWrite, false, true);
  flagOperation(1, abi::kAccessRead, true, false);
  access(1, abi::kAccessRead, 4, 4, 0xff);
  EXPECT_TRUE(races().empty());
  access(0, abi::kAccessWrite, 5, 4, 0xff); // behind the release
  EXPECT_FALSE(races().empty());
  finish();
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
