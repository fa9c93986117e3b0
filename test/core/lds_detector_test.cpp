// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state machine, row by row. Names follow the scenarios of DESIGN.md's rule.
#include "workgroup_model.h"

#include <gtest/gtest.h>

namespace wavesan {
using namespace test;

namespace {
constexpr bool R = false, W = true;

/// A workgroup with short names: site numbers are given by the caller, lane 0 unless said otherwise.
struct Group : WorkgroupModel {
  explicit Group(uint32_t waves = 2, uint32_t granuleLog2 = 2) : WorkgroupModel(waves, 1024, granuleLog2) {}
  void read(uint32_t wave, uint32_t site, uint32_t at = 0, uint32_t size = 4) {
    access({wave, 0, site}, at, size, R, false);
  }
  void write(uint32_t wave, uint32_t site, uint32_t at = 0, uint32_t size = 4) {
    access({wave, 0, site}, at, size, W, false);
  }
  void add(uint32_t wave, uint32_t site, uint32_t at = 0) { access({wave, 0, site}, at, 4, W, true); }
  void atomicLoad(uint32_t wave, uint32_t site, uint32_t at = 0) { access({wave, 0, site}, at, 4, R, true); }
  void bareBarrier() {
    for (uint32_t w = 0; w < Waves; ++w)
      if (!State.waves[w].endEpoch)
        arrive(w);
    for (uint32_t w = 0; w < Waves; ++w)
      if (!State.waves[w].endEpoch)
        leave(w);
  }
  void sync() { // __syncthreads(): release fence, barrier, acquire fence
    fenceAll();
    bareBarrier();
    fenceAll();
  }
  void fenceAll() {
    for (uint32_t w = 0; w < Waves; ++w)
      if (!State.waves[w].endEpoch)
        complete(w);
  }
};

void expectOne(const Group &g, uint32_t currentSite, uint32_t previousSite, abi::RaceClass c) {
  ASSERT_EQ(g.Conflicts.size(), 1u);
  EXPECT_EQ(g.Conflicts[0].current.site, currentSite);
  EXPECT_EQ(g.Conflicts[0].range.previous.site(), previousSite);
  EXPECT_EQ(g.Conflicts[0].range.raceClass, c);
}
} // namespace

TEST(Lds, ReadAfterWriteWithoutBarrierIsARace) {
  Group g;
  g.write(0, 1);
  g.read(1, 2);
  expectOne(g, 2, 1, abi::RaceClass::Race);
  EXPECT_TRUE(g.Conflicts[0].range.previousWrites);
}
TEST(Lds, WriteAfterReadWithoutBarrierIsARace) {
  Group g;
  g.read(0, 1);
  g.write(1, 2);
  expectOne(g, 2, 1, abi::RaceClass::Race);
  EXPECT_FALSE(g.Conflicts[0].range.previousWrites);
}
TEST(Lds, WriteAfterWriteWithoutBarrierIsARace) {
  Group g;
  g.write(0, 1);
  g.write(1, 2);
  expectOne(g, 2, 1, abi::RaceClass::Race);
}
TEST(Lds, ReadsNeverRace) {
  Group g(4);
  for (uint32_t w = 0; w < 4; ++w)
    g.read(w, w);
  EXPECT_TRUE(g.Conflicts.empty());
}
TEST(Lds, WaitWithoutBarrierIsStillARace) { // WAVE_COMPLETE, not RETIRED
  Group g;
  g.write(0, 1);
  g.fenceAll();
  g.read(1, 2);
  expectOne(g, 2, 1, abi::RaceClass::Race);
}
TEST(Lds, SyncOrdersAllThreeKinds) {
  for (auto [first, second] : {std::pair{W, R}, {R, W}, {W, W}}) {
    Group g;
    g.access({0, 0, 1}, 0, 4, first, false);
    g.sync();
    g.access({1, 0, 2}, 0, 4, second, false);
    EXPECT_TRUE(g.Conflicts.empty());
  }
}
TEST(Lds, BareBarrierDoesNotCompleteAnAccess) {
  for (auto [first, second] : {std::pair{W, R}, {R, W}, {W, W}}) {
    Group g;
    g.access({0, 0, 1}, 0, 4, first, false);
    g.bareBarrier();
    g.access({1, 0, 2}, 0, 4, second, false);
    expectOne(g, 2, 1, abi::RaceClass::MissingFence);
  }
}
TEST(Lds, AccessLeftOpenAtOneBarrierRetiresAtTheNextOneBehindAFence) {
  Group g;
  g.write(0, 1);
  g.bareBarrier();
  g.sync();
  g.read(1, 2);
  EXPECT_TRUE(g.Conflicts.empty());
}
TEST(Lds, AccessLeftOpenStaysLiveOverManyBareBarriers) {
  Group g;
  g.write(0, 1);
  for (int i = 0; i < 100; ++i)
    g.bareBarrier();
  g.read(1, 2);
  ASSERT_EQ(g.Conflicts.size(), 1u);
}
TEST(Lds, FenceBeforeTheAccessDoesNotHelp) {
  Group g;
  g.complete(0);
  g.write(0, 1);
  g.bareBarrier();
  g.read(1, 2);
  expectOne(g, 2, 1, abi::RaceClass::MissingFence);
}
TEST(Lds, OnlyTheWaveThatAccessedMustFence) {
  Group g;
  g.write(0, 1);
  g.complete(0); // wave 1 never fences
  g.bareBarrier();
  g.read(1, 2);
  EXPECT_TRUE(g.Conflicts.empty());
}
TEST(Lds, WaveOrderCoversAllLanesOfAWave) {
  Group g;
  g.access({0, 3, 1}, 0, 4, W, false);
  g.access({0, 7, 2}, 0, 4, R, false);
  g.access({0, 9, 3}, 0, 4, W, false);
  EXPECT_TRUE(g.Conflicts.empty());
}
TEST(Lds, ReportNamesWaveLaneAndBytesOfTheEarlierSide) {
  Group g(2, 0);
  g.access({1, 37, 5}, 101, 7, W, false);
  g.access({0, 2, 6}, 104, 8, R, false);
  ASSERT_EQ(g.Conflicts.size(), 1u);
  const core::ConflictRange &r = g.Conflicts[0].range;
  EXPECT_EQ(r.previous.wave(), 1u);
  EXPECT_EQ(r.previous.lane(), 37u);
  EXPECT_EQ(r.address, 104u);
  EXPECT_EQ(r.size, 4u);
}
TEST(Lds, EveryWidthAgainstEveryWidth) {
  for (uint32_t a : {1u, 2u, 4u, 8u, 16u})
    for (uint32_t b : {1u, 2u, 4u, 8u, 16u}) {
      Group g(2, 0);
      g.write(0, 1, 32, a);
      g.read(1, 2, 32 + a - 1, b); // last byte overlaps
      ASSERT_EQ(g.racyBytes(), std::set<uint32_t>{32 + a - 1}) << a << " " << b;
      Group clean(2, 0);
      clean.write(0, 1, 32, a);
      clean.read(1, 2, 32 + a, b); // next byte
      EXPECT_TRUE(clean.Conflicts.empty()) << a << " " << b;
    }
}
TEST(Lds, DisjointBytesOfOneDwordByFourWavesAreClean) {
  Group g(4, 0);
  for (uint32_t w = 0; w < 4; ++w) {
    g.write(w, w, w, 1);
    g.read(w, w + 10, w, 1);
  }
  EXPECT_TRUE(g.Conflicts.empty());
}
TEST(Lds, AtomicsDoNotRaceWithEachOther) {
  Group g(4);
  for (uint32_t w = 0; w < 4; ++w) {
    g.add(w, w);
    g.atomicLoad(w, w + 10);
  }
  EXPECT_TRUE(g.Conflicts.empty());
}
TEST(Lds, PlainAgainstAtomicIsARaceWhereOneWrites) {
  struct Row {
    bool w1, a1, w2, a2, race;
  } rows[] = {{W, false, W, true, true},  {W, true, W, false, true},  {R, false, W, true, true},
              {W, true, R, false, true},  {R, false, R, true, false}, {R, true, W, false, true},
              {W, false, R, true, true},  {R, true, R, false, false}};
  for (const Row &r : rows) {
    Group g;
    g.access({0, 0, 1}, 0, 4, r.w1, r.a1);
    g.access({1, 0, 2}, 0, 4, r.w2, r.a2);
    EXPECT_EQ(!g.Conflicts.empty(), r.race) << r.w1 << r.a1 << r.w2 << r.a2;
  }
}
TEST(Lds, PlainWriteAfterManyReadersFindsOneOfAnotherWave) {
  for (uint32_t writer = 0; writer < 6; ++writer) {
    Group g(6);
    for (uint32_t w = 0; w < 6; ++w)
      g.read(w, w);
    g.write(writer, 100);
    ASSERT_FALSE(g.Conflicts.empty()) << writer;
    for (const Found &f : g.Conflicts)
      EXPECT_NE(f.range.previous.wave(), writer);
    EXPECT_EQ(g.Overflow, 0u);
  }
}
TEST(Lds, ThirdPlainReaderTakesTheAtomicReadersPlace) {
  Group g(4);
  g.atomicLoad(0, 1);
  g.atomicLoad(1, 2);
  g.read(2, 3);
  g.add(3, 4); // races with the plain read only
  expectOne(g, 4, 3, abi::RaceClass::Race);
}
TEST(Lds, AtomicTakesThePlaceOfTheOwnRetiredPlainRecord) {
  Group g;
  g.read(0, 1);
  g.read(1, 2);
  g.sync();
  g.read(1, 3);
  g.atomicLoad(0, 4);
  g.write(1, 5);
  expectOne(g, 5, 4, abi::RaceClass::Race);
}
TEST(Lds, RecordLostByAWaveThatThenSkipsTheFenceIsCounted) {
  Group g(4);
  for (uint32_t w = 0; w < 3; ++w)
    g.read(w, w); // the third finds no slot
  g.complete(0);
  g.complete(1); // wave 2 does not fence
  g.bareBarrier();
  g.write(3, 9);
  EXPECT_TRUE(g.Conflicts.empty());
  EXPECT_GT(g.Overflow, 0u) << "a record that could still matter was lost in silence";
}
TEST(Lds, LostRecordsOfFencingWavesAreNotCounted) {
  Group g(8);
  for (int i = 0; i < 10; ++i) {
    for (uint32_t w = 0; w < 8; ++w)
      g.read(w, w);
    g.sync();
    g.write(i % 8, 20);
    g.sync();
  }
  EXPECT_TRUE(g.Conflicts.empty());
  EXPECT_EQ(g.Overflow, 0u);
}
TEST(Lds, EndedWaveIsCompleteAndDiesWithItsEpoch) {
  Group g(3);
  g.write(0, 1);
  g.end(0);
  g.read(1, 2); // same epoch: race
  ASSERT_EQ(g.Conflicts.size(), 1u);
  g.Conflicts.clear();
  for (int i = 0; i < 9; ++i) { // far enough for the barrier buffers to come round
    g.sync();
    g.read(1, 3);
    EXPECT_TRUE(g.Conflicts.empty()) << i;
  }
}
TEST(Lds, SplitBarrierAccessBetweenSignalAndWaitIsNotOrdered) {
  Group g;
  g.complete(0);
  g.arrive(0);
  g.write(0, 1); // behind the signal
  g.complete(1);
  g.arrive(1);
  g.leave(1);
  g.read(1, 2);
  ASSERT_EQ(g.Conflicts.size(), 1u);
}
TEST(Lds, GenerationOverflowIsAResultNotAGuess) {
  Group g;
  g.State.waves[0].generation = core::Slot::kMaxGeneration;
  core::AccessResult r = g.access({0, 0, 1}, 0, 4, W, false);
  EXPECT_TRUE(r.generationOverflow);
  g.State.waves[0].generation = core::Slot::kMaxGeneration - 1;
  EXPECT_FALSE(g.access({0, 0, 1}, 0, 4, W, false).generationOverflow);
}
TEST(Lds, AccessBeyondTheShadowIsCountedAndItsInnerPartChecked) {
  Group g;
  g.write(0, 1, 1020, 4);
  EXPECT_TRUE(g.access({1, 0, 2}, 1020, 8, R, false).outsideShadow);
  EXPECT_EQ(g.Conflicts.size(), 1u);
  EXPECT_TRUE(g.access({1, 0, 2}, 0xfffffff0u, 16, R, false).outsideShadow);
  EXPECT_FALSE(g.access({1, 0, 2}, 0, 0, R, false).outsideShadow);
}
TEST(Lds, ClassSaysWhetherABarrierLiesBetweenAcrossEpochWrap) {
  Group g;
  for (int i = 0; i < 63; ++i)
    g.sync();
  g.write(0, 1);
  g.bareBarrier();
  g.read(1, 2);
  expectOne(g, 2, 1, abi::RaceClass::MissingFence);
}
TEST(Fence, CompletesLdsByScopeAndAddressSpace) {
  using namespace abi;
  EXPECT_TRUE(core::fenceCompletesLds(fenceInfo(kFenceRelease | kFenceLds | kFenceGlobal, Scope::Workgroup)));
  EXPECT_TRUE(core::fenceCompletesLds(fenceInfo(kFenceAcquire | kFenceLds, Scope::System)));
  EXPECT_FALSE(core::fenceCompletesLds(fenceInfo(kFenceAcquire | kFenceGlobal, Scope::System)));
  EXPECT_FALSE(core::fenceCompletesLds(fenceInfo(kFenceAcquire | kFenceLds, Scope::Wavefront)));
  EXPECT_FALSE(core::fenceCompletesLds(fenceInfo(kFenceAcquire | kFenceLds, Scope::SingleThread)));
  EXPECT_FALSE(core::fenceCompletesLds(fenceInfo(kFenceLds, Scope::Workgroup)));
}

} // namespace wavesan
