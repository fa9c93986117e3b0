// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device runtime's check of global memory, compiled for the host with waves of one lane: workgroups of one dispatch
// in a given interleaving, pattern by pattern.
#include "global_dispatch.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace wavesan {
namespace {

using namespace test;
using namespace device;

class GlobalRuntime : public WithLds {
protected:
  alignas(256) static inline uint32_t Data[256], Flag[64];
};

TEST_F(GlobalRuntime, ReadsOfAllAreClean) {
  Dispatch d(3, 2);
  for (uint32_t g = 0; g < 3; ++g)
    for (uint32_t w = 0; w < 2; ++w)
      d.wave(g, w).read(Data);
  d.expectClean();
}

TEST_F(GlobalRuntime, WritesOfTwoWorkgroupsRace) {
  Dispatch d(2, 2);
  d.wave(0, 1).write(Data, 16);
  d.wave(1, 0).write(Data + 2);
  const auto races = d.races();
  ASSERT_EQ(races.size(), 1u);
  EXPECT_EQ(races[0].raceClass, uint32_t(abi::RaceClass::Race));
  EXPECT_EQ(races[0].space, uint32_t(abi::RaceSpace::Global));
  EXPECT_EQ(races[0].address, uint64_t(Data + 2));
  EXPECT_EQ(races[0].size, 4u);
  EXPECT_EQ(races[0].previousWorkgroup[0], 0u);
  EXPECT_EQ(races[0].previous.wave, 1u);
  EXPECT_EQ(races[0].workgroup[0], 1u);
  EXPECT_EQ(races[0].current.wave, 0u);
}

TEST_F(GlobalRuntime, NeighbouringGranulesAreOneEntry) {
  Dispatch d(2, 1);
  d.wave(0).write(Data, 16);
  d.wave(1).read(Data, 16);
  const auto races = d.races();
  ASSERT_EQ(races.size(), 1u);
  EXPECT_EQ(races[0].address, uint64_t(Data));
  EXPECT_EQ(races[0].count, 4u);
}

TEST_F(GlobalRuntime, BytesOfOneGranuleAreApart) {
  Dispatch d(2, 1);
  auto *bytes = reinterpret_cast<char *>(Data);
  d.wave(0).write(bytes, 1);
  d.wave(1).write(bytes + 1, 1);
  d.expectClean();
  d.wave(1).write(bytes, 2);
  EXPECT_EQ(d.races().size(), 1u);
}

TEST_F(GlobalRuntime, AccessesAcrossGranulesAndPages) {
  Dispatch d(2, 1);
  auto *bytes = reinterpret_cast<char *>(Data) + 253;
  d.wave(0).write(bytes, 8);
  d.wave(1).read(bytes + 7, 1);
  ASSERT_EQ(d.races().size(), 1u);
  EXPECT_EQ(d.races()[0].address, uint64_t(bytes + 7));
  EXPECT_EQ(d.races()[0].size, 1u);
  d.wave(1).read(bytes + 8, 4);
  EXPECT_EQ(d.races().size(), 1u);
}

TEST_F(GlobalRuntime, BarrierOrdersTheWorkgroup) {
  Dispatch d(1, 3);
  d.wave(0, 0).write(Data);
  d.barrier(0);
  for (uint32_t w = 0; w < 3; ++w)
    d.wave(0, w).read(Data);
  d.barrier(0);
  d.wave(0, 2).write(Data);
  d.expectClean();
  d.wave(0, 1).write(Data);
  EXPECT_EQ(d.races().size(), 1u);
}

TEST_F(GlobalRuntime, BareBarrierIsNoFence) {
  Dispatch d(1, 2);
  d.wave(0, 0).write(Data);
  d.barrier(0, false);
  d.wave(0, 1).read(Data);
  ASSERT_EQ(d.races().size(), 1u);
  EXPECT_EQ(d.races()[0].raceClass, uint32_t(abi::RaceClass::MissingFence));
  d.barrier(0);
  d.wave(0, 0).write(Data + 1);
  d.wave(0, 1).read(Data + 1);
  ASSERT_EQ(d.races().size(), 2u);
}

TEST_F(GlobalRuntime, BarriersOrderOneWorkgroupOnly) {
  Dispatch d(2, 2);
  d.wave(0, 0).write(Data);
  d.barrier(0);
  d.barrier(1);
  d.wave(1, 1).read(Data);
  EXPECT_EQ(d.races().size(), 1u);
}

TEST_F(GlobalRuntime, WorkgroupsKeepTheirRecordsApart) {
  // Waves 0 and 1 of one workgroup and one wave of another read; the first workgroup writes behind its barrier.
  Dispatch d(2, 2);
  d.wave(0, 0).read(Data);
  d.wave(0, 1).read(Data);
  d.wave(1, 0).read(Data);
  d.barrier(0);
  d.wave(0, 0).write(Data);
  ASSERT_EQ(d.races().size(), 1u);
  EXPECT_EQ(d.races()[0].previousWorkgroup[0], 1u);
}

TEST_F(GlobalRuntime, InitialisationAgainstAtomicsOfAnother) {
  Dispatch d(2, 4);
  d.wave(0, 0).write(Data);
  d.barrier(0);
  for (uint32_t w = 0; w < 4; ++w)
    d.wave(0, w).add(Data, false, false);
  d.expectClean();
  d.wave(1, 3).add(Data, false, false);
  EXPECT_EQ(d.races().size(), 1u);
}

TEST_F(GlobalRuntime, AtomicsExcludeByScope) {
  Dispatch d(2, 2);
  d.wave(0, 0).add(Data, false, false);
  d.wave(1, 0).add(Data, false, false);
  d.wave(0, 0).add(Data + 1, false, false, abi::Scope::Workgroup);
  d.wave(0, 1).add(Data + 1, false, false, abi::Scope::Workgroup);
  d.expectClean();
  d.wave(1, 1).add(Data + 1, false, false, abi::Scope::Workgroup);
  EXPECT_EQ(d.races().size(), 1u);
  d.wave(0, 0).add(Data + 2, false, false, abi::Scope::Wavefront);
  d.wave(0, 1).add(Data + 2, false, false, abi::Scope::Wavefront);
  EXPECT_EQ(d.races().size(), 2u);
}

TEST_F(GlobalRuntime, FlagWithReleaseAndAcquire) {
  Dispatch d(3, 1);
  d.wave(0).write(Data);
  d.wave(0).store(Flag, true);
  d.wave(1).load(Flag, true);
  d.wave(1).read(Data);
  d.expectClean();
  // Known through another.
  d.wave(1).store(Flag + 1, true);
  d.wave(2).load(Flag + 1, true);
  d.wave(2).write(Data + 4);
  d.wave(2).read(Data);
  d.expectClean();
  // What came after the release is not.
  d.wave(0).write(Data + 1);
  d.wave(1).read(Data + 1);
  EXPECT_EQ(d.races().size(), 1u);
}

TEST_F(GlobalRuntime, FlagWithoutReleaseOrWithoutAcquire) {
  for (const bool release : {false, true}) {
    Dispatch d(2, 1);
    d.wave(0).write(Data);
    d.wave(0).store(Flag, release);
    d.wave(1).load(Flag, !release);
    d.wave(1).read(Data);
    EXPECT_EQ(d.races().size(), 1u);
    EXPECT_EQ(d.Counters.orderUnknown, 0u);
  }
}

TEST_F(GlobalRuntime, FencesAroundRelaxedAtomics) {
  Dispatch d(3, 1);
  d.wave(0).write(Data);
  d.wave(0).threadfence();
  d.wave(0).write(Data + 1);
  d.wave(0).store(Flag, false);
  d.wave(1).load(Flag, false);
  d.wave(1).threadfence();
  d.wave(1).read(Data);
  d.expectClean();
  d.wave(1).read(Data + 1); // behind the fence
  EXPECT_EQ(d.races().size(), 1u);
  d.wave(2).load(Flag, false);
  d.wave(2).read(Data); // no acquire
  EXPECT_EQ(d.races().size(), 2u);
}

TEST_F(GlobalRuntime, StoreEndsAReleaseSequenceAndReadModifyWriteContinuesIt) {
  Dispatch d(4, 1);
  d.wave(0).write(Data);
  d.wave(0).store(Flag, true);
  d.wave(1).add(Flag, false, false);
  d.wave(2).load(Flag, true);
  d.wave(2).read(Data);
  d.expectClean();
  d.wave(1).store(Flag, true);
  d.wave(3).load(Flag, true);
  d.wave(3).read(Data);
  EXPECT_EQ(d.races().size(), 1u);
}

TEST_F(GlobalRuntime, StoreThatReleasesNothingEndsAReleaseSequence) {
  Dispatch d(4, 1);
  d.wave(0).write(Data);
  d.wave(0).store(Flag, true);
  d.wave(1).store(Flag, false); // no fence, no order
  d.wave(2).load(Flag, true);
  d.wave(2).read(Data);
  EXPECT_EQ(d.races().size(), 1u);
  // A read-modify-write does not bring it back: a new one begins.
  d.wave(1).write(Data + 8);
  d.wave(1).add(Flag, false, true);
  d.wave(3).load(Flag, true);
  d.wave(3).read(Data + 8);
  EXPECT_EQ(d.races().size(), 1u);
  d.wave(3).read(Data);
  EXPECT_EQ(d.races().size(), 2u);
}

TEST_F(GlobalRuntime, StoresEndReleaseSequencesOfOtherReaches) {
  Dispatch d(3, 2);
  d.wave(0).write(Data);
  d.wave(0).store(Flag, true);
  d.wave(1).store(Flag, true, abi::Scope::Workgroup); // nobody else sees its release, but its value
  d.wave(2).load(Flag, true);
  d.wave(2).read(Data);
  EXPECT_EQ(d.racesAt(Data), 1u);
  d.wave(0, 0).write(Data + 4);
  d.wave(0, 0).store(Flag + 1, true, abi::Scope::Workgroup);
  d.wave(1).store(Flag + 1, true);
  d.wave(0, 1).load(Flag + 1, true, abi::Scope::Workgroup);
  d.wave(0, 1).read(Data + 4);
  EXPECT_EQ(d.racesAt(Data + 4), 1u);
}

TEST_F(GlobalRuntime, NarrowStoresEndNarrowReleaseSequences) {
  for (const bool release : {false, true}) {
    Dispatch d(1, 3);
    d.wave(0, 0).write(Data);
    d.wave(0, 0).store(Flag, true, abi::Scope::Workgroup);
    d.wave(0, 1).store(Flag, release, abi::Scope::Workgroup);
    d.wave(0, 2).load(Flag, true, abi::Scope::Workgroup);
    d.wave(0, 2).read(Data);
    EXPECT_EQ(d.racesAt(Data), 1u) << release;
  }
}

TEST_F(GlobalRuntime, CompareExchangeReleasesIfItSucceeds) {
  for (const bool ordered : {false, true})
    for (const auto scope : {abi::Scope::Workgroup, abi::Scope::Agent})
      for (const bool wrote : {false, true}) {
        Dispatch d(2, 2);
        const uint32_t reader = scope == abi::Scope::Agent ? 1 : 0;
        d.wave(0).write(Data);
        if (!ordered)
          d.wave(0).fence(abi::kFenceAcquire | abi::kFenceRelease, scope);
        d.wave(0).exchange(Flag, false, ordered, wrote, scope);
        d.wave(reader, 1).load(Flag, true, scope);
        d.wave(reader, 1).read(Data);
        EXPECT_EQ(d.races().size(), wrote ? 0u : 1u) << ordered << int(scope);
        EXPECT_EQ(d.Counters.orderUnknown, 0u);
      }
}

TEST_F(GlobalRuntime, FailedCompareExchangeEndsNothing) {
  Dispatch d(3, 1);
  d.wave(0).write(Data);
  d.wave(0).store(Flag, true);
  d.wave(1).exchange(Flag, true, true, false);
  d.wave(2).load(Flag, true);
  d.wave(2).read(Data);
  d.wave(2).write(Flag); // knows all that was written there
  d.expectClean();
}

TEST_F(GlobalRuntime, LockByCompareExchangeAfterAFence) {
  // Who fails to get the lock has released nothing by that, whatever fences it has passed.
  Dispatch d(3, 1);
  d.wave(0).write(Data);
  d.wave(0).threadfence();
  d.wave(1).exchange(Flag, true, false, true); // has it
  d.wave(0).exchange(Flag, true, true, false);
  d.wave(1).add(Flag, false, true); // atomicExch()
  d.wave(2).exchange(Flag, true, false, true);
  d.wave(2).read(Data);
  EXPECT_EQ(d.races().size(), 1u);
}

TEST_F(GlobalRuntime, CompareExchangeUnderWayIsNotGuessed) {
  Dispatch d(2, 1);
  d.wave(0).write(Data);
  d.wave(0).begin(Flag, false, true);
  d.wave(1).load(Flag, true);
  d.wave(1).read(Data);
  EXPECT_EQ(d.races().size(), 0u);
  EXPECT_GE(d.Counters.orderUnknown, 1u);
}

TEST_F(GlobalRuntime, LastBlock) {
  constexpr uint32_t kGroups = 5;
  Dispatch d(kGroups, 2);
  for (uint32_t g = 0; g < kGroups; ++g) {
    for (uint32_t w = 0; w < 2; ++w)
      d.wave(g, w).write(Data + 2 * g + w);
    d.barrier(g);
    d.wave(g).threadfence();
    d.wave(g).add(Flag, false, false);
    d.wave(g).threadfence();
    d.barrier(g);
  }
  for (uint32_t w = 0; w < 2; ++w)
    for (uint32_t i = 0; i < 2 * kGroups; ++i)
      d.wave(kGroups - 1, w).read(Data + i);
  d.wave(kGroups - 1).write(Flag); // resets the ticket
  d.expectClean();
}

TEST_F(GlobalRuntime, LastBlockWithoutBarrierBehindTheTicket) {
  Dispatch d(2, 2);
  d.wave(0).write(Data);
  d.wave(0).add(Flag, true, true);
  d.wave(1, 0).add(Flag, true, true);
  d.wave(1, 1).read(Data);
  EXPECT_EQ(d.races().size(), 1u);
}

TEST_F(GlobalRuntime, SpinLock) {
  Dispatch d(4, 1);
  for (uint32_t round = 0; round < 3; ++round)
    for (uint32_t g = 0; g < 4; ++g) {
      d.wave((g + 1) % 4).exchange(Flag, true, false, false);
      d.wave(g).exchange(Flag, true, false, true);
      d.wave(g).read(Data);
      d.wave(g).write(Data);
      d.wave(g).store(Flag, true);
    }
  d.expectClean();
  d.wave(2).write(Data); // outside
  EXPECT_EQ(d.races().size(), 1u);
}

TEST_F(GlobalRuntime, GridBarrier) {
  Dispatch d(3, 2);
  for (uint32_t round = 0; round < 4; ++round) {
    for (uint32_t g = 0; g < 3; ++g)
      for (uint32_t w = 0; w < 2; ++w)
        d.wave(g, w).write(Data + 2 * g + w);
    d.gridBarrier(3);
    for (uint32_t g = 0; g < 3; ++g)
      for (uint32_t w = 0; w < 2; ++w)
        d.wave(g, w).read(Data + 2 * ((g + 1) % 3) + w);
    d.gridBarrier(3);
  }
  d.expectClean();
  d.wave(0, 0).write(Data);
  d.wave(1, 0).read(Data);
  EXPECT_EQ(d.races().size(), 1u);
}

TEST_F(GlobalRuntime, NarrowReleaseReachesItsWorkgroupOnly) {
  Dispatch d(2, 2);
  d.wave(0, 0).write(Data);
  d.wave(0, 0).store(Flag, true, abi::Scope::Workgroup);
  d.wave(0, 1).load(Flag, true, abi::Scope::Workgroup);
  d.wave(0, 1).read(Data);
  d.expectClean();
  d.wave(1, 0).load(Flag, true);
  d.wave(1, 0).read(Data);
  EXPECT_GE(d.races().size(), 1u);
}

TEST_F(GlobalRuntime, WithoutRowsNothingIsDecidedAndThatIsCounted) {
  Dispatch d(3, 1, /*rows=*/0);
  d.wave(0).write(Data);
  d.wave(0).store(Flag, true);
  d.wave(1).load(Flag, true);
  d.wave(1).read(Data);
  EXPECT_EQ(d.races().size(), 0u);
  EXPECT_GE(d.Counters.orderUnknown, 1u);
  d.wave(0).write(Data + 1); // not released
  d.wave(1).read(Data + 1);
  EXPECT_EQ(d.races().size(), 1u);
}

TEST_F(GlobalRuntime, FullTableIsCounted) {
  Dispatch d(2, 1, 16, /*pages=*/1);
  d.wave(0).write(Data);
  d.expectClean();
  d.wave(0).write(Data + 128);
  EXPECT_EQ(d.Counters.outsideBudget, 1u);
}

TEST_F(GlobalRuntime, NothingIsLeftOfTheDispatchBefore) {
  std::vector<char> memory;
  {
    Dispatch d(2, 2);
    d.wave(0).write(Data);
    d.wave(0).store(Flag, true);
    d.wave(1).load(Flag, true);
    memory = d.Own;
  }
  Dispatch d(2, 2, 256, 64, 6, &memory);
  d.wave(1, 1).write(Data);
  d.expectClean();
  d.wave(0, 1).read(Data);
  EXPECT_EQ(d.races().size(), 1u);
}

TEST_F(GlobalRuntime, RowsOfEndedWorkgroupsAreFree) {
  Dispatch d(8, 1, /*rows=*/2); // one for the flag, one for who reads it
  d.wave(0).write(Data);
  d.wave(0).store(Flag, true);
  for (uint32_t g = 1; g < 8; ++g) {
    d.wave(g).load(Flag, true);
    d.wave(g).read(Data);
    d.end(g, 0);
  }
  d.expectClean();
}

TEST_F(GlobalRuntime, LostRecordsAreCounted) {
  // Three workgroups read, then one that has acquired from two of them writes: the third's record is gone.
  Dispatch d(4, 1);
  for (uint32_t g = 0; g < 3; ++g)
    d.wave(g).read(Data);
  for (uint32_t g = 0; g < 2; ++g)
    d.wave(g).add(Flag, false, true);
  d.wave(3).load(Flag, true);
  d.wave(3).write(Data);
  EXPECT_EQ(d.races().size() + d.Counters.historyOverflow, 1u);
}

TEST_F(GlobalRuntime, BytesThatManyReadAreNoLoss) {
  // A stencil of bytes: neighbouring workgroups read different bytes of one granule, and nobody writes it.
  Dispatch d(6, 1);
  auto *bytes = reinterpret_cast<char *>(Data);
  for (int round = 0; round < 2; ++round)
    for (uint32_t g = 0; g < 6; ++g)
      d.wave(g).read(bytes + (g + round) % 4, 1);
  d.expectClean();
}

TEST_F(GlobalRuntime, LostBytesCountWhenSomebodyWritesThem) {
  auto *bytes = reinterpret_cast<char *>(Data);
  // Each byte has one reader, at most two of which are kept: a write of any byte is a race or counted. So is an atomic.
  for (const bool atomic : {false, true})
    for (int written = 0; written < 4; ++written) {
      Dispatch d(5, 1);
      for (uint32_t g = 0; g < 4; ++g)
        d.wave(g).read(bytes + g, 1);
      EXPECT_EQ(d.races().size() + d.Counters.historyOverflow, 0u);
      if (atomic)
        d.wave(4).add(Data, false, false);
      else
        d.wave(4).write(bytes + written, 1);
      EXPECT_EQ(d.races().size() + d.Counters.historyOverflow, 1u) << written;
    }
  // In any order of readers and whoever reads more than once.
  int order[4] = {0, 1, 2, 3};
  do {
    for (int written = 0; written < 4; ++written) {
      Dispatch d(5, 1);
      for (const int g : order)
        d.wave(g).read(bytes + g, 1);
      d.wave(order[0]).read(bytes + order[3], 1);
      d.wave(4).read(bytes + written, 1);
      d.wave(4).write(bytes + written, 1);
      EXPECT_EQ(d.races().size() + d.Counters.historyOverflow, 1u) << written;
    }
  } while (std::next_permutation(order, order + 4));
  // Reading on is not counted: nobody writes.
  Dispatch d(5, 1);
  for (uint32_t g = 0; g < 5; ++g)
    d.wave(g).read(bytes + g % 4, 1);
  d.wave(4).load(Data, false);
  d.expectClean();
}

TEST_F(GlobalRuntime, LostWritesOfBytesAreCountedAtOnce) {
  Dispatch d(4, 1);
  auto *bytes = reinterpret_cast<char *>(Data);
  for (uint32_t g = 0; g < 4; ++g)
    d.wave(g).write(bytes + g, 1);
  EXPECT_EQ(d.races().size(), 0u);
  EXPECT_GT(d.Counters.historyOverflow, 0u);
}

} // namespace
} // namespace wavesan
