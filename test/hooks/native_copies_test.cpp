// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asynchronous copies to and from LDS, and the waits for them.
#include "native_hooks_fixture.h"

#include "copy_queue.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace wavesan::cpu {
namespace {

constexpr uint32_t kBuiltin = abi::kCopyConsecutive | abi::kCopyFenced;

class NativeCopiesTest : public NativeHooksTest {
protected:
  /// Lane i writes (or reads) dword i from LDS byte `base` on.
  void copy(uint32_t wave, uint32_t site, uint32_t base = 0, uint32_t copyBits = kBuiltin,
            uint32_t bits = abi::kAccessWrite) {
    uint32_t address[64];
    for (uint32_t i = 0; i < 64; ++i)
      address[i] = copyBits & abi::kCopyConsecutive ? base : base + 4 * i;
    with(wave, [&](WaveView &v) { Hooks->ldsCopy(v, ~0ull, address, abi::copyInfo(bits, 4, copyBits), site, 0); });
  }
  void wait(uint32_t wave, uint32_t info) {
    with(wave, [&](WaveView &v) { Hooks->wait(v, ~0ull, info); });
  }
  void bareBarrier() {
    for (uint32_t w = 0; w < Waves; ++w)
      with(w, [&](WaveView &v) { Hooks->barrierArrive(v, ~0ull, 0); });
    for (uint32_t w = 0; w < Waves; ++w)
      with(w, [&](WaveView &v) { Hooks->barrierLeave(v, ~0ull, 0); });
  }
  /// What an instruction in inline assembly does, which the compiler knows nothing of.
  void assembly(uint32_t wave, uint32_t bits, uint32_t site, uint32_t base = 0) {
    uint32_t address[64];
    for (uint32_t i = 0; i < 64; ++i)
      address[i] = base + 4 * i;
    with(wave, [&](WaveView &v) {
      Hooks->ldsAccess(v, ~0ull, address, abi::accessInfo(bits, 4) | abi::kAccessOneInstruction, site, 0);
    });
  }
  void expectOne(uint32_t current, uint32_t previous, abi::RaceClass c) {
    ASSERT_EQ(races().size(), 1u);
    EXPECT_EQ(races()[0].current.site, current);
    EXPECT_EQ(races()[0].previous.site, previous);
    EXPECT_EQ(races()[0].raceClass, uint32_t(c));
    EXPECT_LT(races()[0].previous.wave, Waves);
    EXPECT_LT(races()[0].current.wave, Waves);
  }
  static constexpr uint32_t kVmem0 = abi::kWaitVmem, kLds0 = abi::kWaitLds;
};

TEST_F(NativeCopiesTest, BarrierWithoutWait) {
  start(2);
  copy(0, 1);
  bareBarrier();
  access(1, abi::kAccessRead, 2);
  expectOne(2, 1, abi::RaceClass::MissingWait);
  finish();
}
TEST_F(NativeCopiesTest, WaitThenBarrier) {
  start(2);
  copy(0, 1);
  wait(0, kVmem0);
  bareBarrier();
  access(1, abi::kAccessRead, 2);
  finish();
  EXPECT_TRUE(races().empty());
  EXPECT_EQ(Counters.checkedAccesses, 2u);
  EXPECT_EQ(Counters.waitsUnknown, 0u);
}
TEST_F(NativeCopiesTest, WaitBehindTheBarrierIsTooLate) {
  start(2);
  copy(0, 1);
  bareBarrier();
  wait(0, kVmem0);
  access(1, abi::kAccessRead, 2);
  expectOne(2, 1, abi::RaceClass::MissingWait);
  finish();
}
TEST_F(NativeCopiesTest, WaitWithoutBarrierIsARace) {
  start(2);
  copy(0, 1);
  wait(0, kVmem0);
  access(1, abi::kAccessRead, 2);
  expectOne(2, 1, abi::RaceClass::Race);
  finish();
}
TEST_F(NativeCopiesTest, OtherCountersDoNotCount) {
  for (uint32_t info : {kLds0, uint32_t(abi::kWaitAsync)}) {
    start(2);
    copy(0, 1);
    wait(0, info);
    bareBarrier();
    access(1, abi::kAccessRead, 2);
    expectOne(2, 1, abi::RaceClass::MissingWait);
    finish();
  }
  start(2);
  copy(0, 1, 0, abi::kCopyAsyncCounter);
  wait(0, kVmem0);
  bareBarrier();
  access(1, abi::kAccessRead, 2);
  expectOne(2, 1, abi::RaceClass::MissingWait);
  finish();
}
TEST_F(NativeCopiesTest, FencesWaitForCopiesThatTheCompilerKnows) {
  for (uint32_t copyBits : {kBuiltin, uint32_t(abi::kCopyConsecutive), uint32_t(abi::kCopyAsyncCounter)}) {
    start(2);
    copy(0, 1, 0, copyBits);
    sync();
    access(1, abi::kAccessRead, 2);
    finish();
    EXPECT_EQ(races().size(), copyBits == kBuiltin ? 0u : 1u);
  }
}
TEST_F(NativeCopiesTest, OwnAccessInAssemblyNeedsTheWait) {
  for (uint32_t info : {0u, kLds0, kVmem0}) {
    start(1);
    copy(0, 1);
    wait(0, info);
    assembly(0, abi::kAccessRead, 2);
    if (info == kVmem0)
      EXPECT_TRUE(races().empty());
    else
      expectOne(2, 1, abi::RaceClass::MissingWait);
    finish();
  }
}
TEST_F(NativeCopiesTest, OwnAccessOfTheLanguageIsOrdered) {
  start(2);
  copy(0, 1);
  access(0, abi::kAccessRead, 2);
  access(0, abi::kAccessWrite, 3);
  EXPECT_TRUE(races().empty());
  finish();
  // The compiler knows nothing of these.
  start(1);
  copy(0, 1, 0, abi::kCopyAsyncCounter);
  access(0, abi::kAccessRead, 2);
  expectOne(2, 1, abi::RaceClass::MissingWait);
  finish();
}
TEST_F(NativeCopiesTest, OwnRecordDoesNotHideTheCopy) {
  // The copy's record stays although its own wave writes the same bytes later, and completes that.
  start(2);
  copy(0, 1);
  access(0, abi::kAccessWrite, 3);
  wait(0, kLds0);
  bareBarrier();
  access(1, abi::kAccessRead, 4);
  expectOne(4, 1, abi::RaceClass::MissingWait);
  finish();
}
TEST_F(NativeCopiesTest, EarlierAccessesOfTheWaveComeBeforeItsCopy) {
  start(1);
  access(0, abi::kAccessRead, 1);
  access(0, abi::kAccessWrite, 2);
  copy(0, 3);
  copy(0, 4);
  finish();
  EXPECT_TRUE(races().empty());
}
TEST_F(NativeCopiesTest, RefillWhileOthersRead) {
  start(2);
  copy(0, 1);
  sync();
  access(1, abi::kAccessRead, 2);
  copy(0, 1);
  expectOne(1, 2, abi::RaceClass::Race);
  finish();
}
TEST_F(NativeCopiesTest, DoubleBufferWithOneBarrier) {
  start(2);
  for (int k = 0; k < 20; ++k) {
    const uint32_t half = k % 2 * 256;
    copy(0, 1, half);
    wait(0, kVmem0);
    sync();
    for (uint32_t w = 0; w < 2; ++w)
      access(w, abi::kAccessRead, 2, 4, ~0ull, half);
  }
  finish();
  EXPECT_TRUE(races().empty());
  EXPECT_EQ(Counters.historyOverflow, 0u);
}
TEST_F(NativeCopiesTest, PartialWaitsCompleteInOrder) {
  for (uint32_t count : {1u, 2u}) {
    start(2);
    copy(0, 1, 0);
    copy(0, 2, 256);
    wait(0, abi::waitInfo(0, count, 0));
    bareBarrier();
    access(1, abi::kAccessRead, 3, 4, ~0ull, 0); // the first
    EXPECT_EQ(races().size(), count == 1 ? 0u : 1u) << count;
    access(1, abi::kAccessRead, 4, 4, ~0ull, 256); // the second
    EXPECT_EQ(races().size(), count == 1 ? 1u : 2u) << count;
    finish();
    EXPECT_EQ(Counters.waitsUnknown, 0u);
  }
}
TEST_F(NativeCopiesTest, AsyncCountersHavePartialWaitsToo) {
  start(2);
  copy(0, 1, 0, abi::kCopyAsyncCounter);
  copy(0, 2, 256, abi::kCopyAsyncCounter);
  wait(0, abi::waitInfo(0, 0, 1));
  bareBarrier();
  access(1, abi::kAccessRead, 3, 4, ~0ull, 0);
  EXPECT_TRUE(races().empty());
  access(1, abi::kAccessRead, 4, 4, ~0ull, 256);
  expectOne(4, 2, abi::RaceClass::MissingWait);
  finish();
}
TEST_F(NativeCopiesTest, StoreFromLdsReadsUntilItIsWaitedFor) {
  for (bool waits : {false, true}) {
    start(2);
    copy(0, 1, 0, abi::kCopyAsyncCounter, abi::kAccessRead);
    if (waits)
      wait(0, abi::kWaitAsync);
    bareBarrier();
    access(1, abi::kAccessWrite, 2);
    EXPECT_EQ(races().size(), waits ? 0u : 1u);
    finish();
  }
}
TEST_F(NativeCopiesTest, ManyWavesCopyAndRead) {
  start(4);
  for (uint32_t w = 0; w < 2; ++w)
    copy(w, 1, w * 256);
  for (uint32_t w = 0; w < 2; ++w)
    wait(w, kVmem0);
  bareBarrier();
  for (uint32_t w = 0; w < 4; ++w)
    for (uint32_t half : {0u, 256u})
      access(w, abi::kAccessRead, 2, 4, ~0ull, half);
  finish();
  EXPECT_TRUE(races().empty());
}

/// Happens-before by its definition: complete lists, no packing. Of one workgroup.
struct PlainModel {
  struct Access {
    uint32_t wave, number; ///< of a copy, or the number of completing fences and waits before it
    bool copy, write;
  };
  explicit PlainModel(uint32_t waves)
      : fences(waves, 0), issued(waves, 0), complete(waves, 0), onlyKnown(waves, true),
        known(waves, std::vector<uint32_t>(waves, 0)), knownCopies(known) {}

  /// Is the new access in a race with an earlier one of the same place?
  bool access(uint32_t place, uint32_t wave, bool write, bool copy, bool assembly) {
    bool racy = false;
    for (const Access &r : places[place])
      if ((r.write || write) && !before(r, wave, copy, assembly))
        racy = true;
    places[place].push_back({wave, copy ? issued[wave] : fences[wave], copy, write});
    return racy;
  }
  bool before(const Access &r, uint32_t wave, bool copy, bool assembly) const {
    if (r.wave == wave)
      return !r.copy || copy || (!assembly && onlyKnown[wave]) || r.number <= complete[wave];
    return r.copy ? r.number <= knownCopies[wave][r.wave] : r.number < known[wave][r.wave];
  }
  void barrier() {
    const auto oldKnown = known, oldCopies = knownCopies;
    for (size_t to = 0; to < fences.size(); ++to)
      for (size_t from = 0; from < fences.size(); ++from) {
        known[to][from] = std::max(known[to][from], fences[from]);
        knownCopies[to][from] = std::max(knownCopies[to][from], complete[from]);
      }
  }

  std::vector<uint32_t> fences, issued, complete;
  std::vector<bool> onlyKnown; ///< to the compiler: all copies so far
  std::vector<std::vector<uint32_t>> known, knownCopies;
  std::map<uint32_t, std::vector<Access>> places;
};

TEST_F(NativeCopiesTest, RandomProgramsAgreeWithAPlainModel) {
  Capacity = 4096;
  std::mt19937 random(11);
  uint64_t racy = 0, overflowed = 0;
  for (int round = 0; round < 4000; ++round) {
    const uint32_t waves = 1 + random() % 3, placeCount = 1 + random() % 4;
    start(waves);
    PlainModel model(waves);
    std::vector<std::vector<bool>> copies(waves); // of each wave: does the compiler know it
    std::vector<uint32_t> placeOf(1, 0);          // by site
    std::set<uint32_t> expected;
    for (int step = 0; step < 40; ++step) {
      const uint32_t w = random() % waves, place = random() % placeCount, site = uint32_t(placeOf.size());
      uint32_t address[64] = {place * 4};
      const auto complete = [&](uint32_t count) {
        if (copies[w].size() > count)
          model.complete[w] = std::max(model.complete[w], uint32_t(copies[w].size()) - count);
      };
      switch (random() % 8) {
      case 0:
      case 1:
      case 2: {
        const bool write = random() % 2, assembly = random() % 2;
        placeOf.push_back(place);
        if (model.access(place, w, write, false, assembly))
          expected.insert(place);
        with(w, [&](WaveView &v) {
          Hooks->ldsAccess(v, 1, address,
                           abi::accessInfo(write ? abi::kAccessWrite : abi::kAccessRead, 4) |
                               (assembly ? abi::kAccessOneInstruction : 0),
                           site, 0);
        });
        break;
      }
      case 3:
      case 4: {
        const bool write = random() % 4 != 0, known = random() % 3 != 0;
        placeOf.push_back(place);
        copies[w].push_back(known);
        ++model.issued[w];
        model.onlyKnown[w] = model.onlyKnown[w] && known;
        if (model.access(place, w, write, true, false))
          expected.insert(place);
        with(w, [&](WaveView &v) {
          Hooks->ldsCopy(v, 1, address,
                         abi::copyInfo(write ? abi::kAccessWrite : abi::kAccessRead, 4,
                                       abi::kCopyConsecutive | (known ? abi::kCopyFenced : 0u)),
                         site, 0);
        });
        break;
      }
      case 5: {
        const uint32_t count = random() % 3;
        wait(w, count ? abi::waitInfo(0, count, 0) : kVmem0);
        complete(count);
        break;
      }
      case 6:
        if (random() % 2) {
          wait(w, kLds0);
        } else {
          with(w, [&](WaveView &v) {
            Hooks->fence(v, 1, abi::fenceInfo(abi::kFenceRelease | abi::kFenceLds, abi::Scope::Workgroup));
          });
          for (size_t k = copies[w].size(); k > model.complete[w]; --k)
            if (copies[w][k - 1]) {
              model.complete[w] = uint32_t(k);
              break;
            }
        }
        ++model.fences[w];
        break;
      case 7:
        bareBarrier();
        model.barrier();
        break;
      }
    }
    std::set<uint32_t> found;
    for (const abi::RaceRecord &r : races())
      found.insert(placeOf[r.current.site]);
    finish();
    racy += !expected.empty();
    overflowed += Counters.historyOverflow != 0;
    if (Counters.historyOverflow == 0)
      ASSERT_EQ(found, expected) << "round " << round;
    else
      ASSERT_TRUE(std::includes(expected.begin(), expected.end(), found.begin(), found.end())) << "round " << round;
  }
  EXPECT_GT(racy, 1000u);
  EXPECT_LT(racy, 4000u);
  EXPECT_LT(overflowed, 3000u);
}

// Waits for a count, between instructions of which the number is known or not.

TEST(CopyQueue, PlainAccessesMakeTheCountUncertain) {
  CopyQueue q;
  q.issue(kBuiltin);
  q.loads(0, 1);                                 // a load that the compiler may merge
  EXPECT_EQ(q.wait(abi::waitInfo(0, 2, 0)), 0u); // at most one younger: certainly not complete
  EXPECT_EQ(q.completed(), 0u);
  EXPECT_EQ(q.wait(abi::waitInfo(0, 1, 0)), 1u); // perhaps
  EXPECT_EQ(q.completed(), 1u);
}
TEST(CopyQueue, InstructionsInAssemblyCountExactly) {
  CopyQueue q;
  q.issue(kBuiltin);
  q.loads(1, 0);
  EXPECT_EQ(q.wait(abi::waitInfo(0, 1, 0)), 0u);
  EXPECT_EQ(q.completed(), 1u);
}
TEST(CopyQueue, StoresCountWhereTheTargetCountsThem) {
  for (bool stores : {false, true}) {
    CopyQueue q;
    q.issue(kBuiltin);
    q.stores(1, 0);
    EXPECT_EQ(q.wait(abi::waitInfo(stores ? abi::kWaitVmemCountsStores : 0, 1, 0)), 0u);
    EXPECT_EQ(q.completed(), stores ? 1u : 0u);
  }
}
TEST(CopyQueue, AgainstAListOfWhatIsUnderWay) {
  // Exact counts only: a copy is complete iff no more than N instructions from it on are younger.
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    CopyQueue q;
    std::vector<int> underWay; // numbers of copies, 0: other loads
    int issued = 0, complete = 0;
    for (int step = 0; step < 30; ++step)
      switch (random() % 4) {
      case 0:
      case 1:
        underWay.push_back(int(q.issue(kBuiltin))), ++issued;
        break;
      case 2:
        q.loads(1, 0), underWay.push_back(0);
        break;
      case 3: {
        const size_t count = random() % 5;
        EXPECT_EQ(q.wait(count ? abi::waitInfo(0, uint32_t(count), 0) : abi::waitInfo(abi::kWaitVmem, 0, 0)), 0u);
        while (underWay.size() > count) {
          complete = std::max(complete, underWay.front());
          underWay.erase(underWay.begin());
        }
        ASSERT_EQ(int(q.completed()), complete) << "round " << round;
      }
      }
  }
}

} // namespace
} // namespace wavesan::cpu
