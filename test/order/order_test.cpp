// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Happens-before between waves and workgroups, by pattern.
#include "memory_shadow.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>

namespace wavesan::cpu {
namespace {

using abi::Scope;
constexpr uint32_t Both = abi::kFenceLds | abi::kFenceGlobal;
constexpr uint32_t Acquire = abi::kFenceAcquire, Release = abi::kFenceRelease;

/// A dispatch of some workgroups of two waves, with short names.
struct Grid {
  explicit Grid(uint32_t groups, uint32_t waves = 2) {
    for (uint32_t g = 0; g < groups; ++g)
      Groups.emplace_back(g, waves);
  }
  WaveOrder &at(uint32_t g, uint32_t w = 0) { return Groups[g].wave(w); }
  void access(WaveOrder &w, uint64_t address, uint32_t size, bool write, bool atomic, Scope scope) {
    AccessRecord r{w.id.workgroup,
                   w.generation[kGlobal],
                   Site++,
                   ((1ull << size) - 1) << (address % kLineBytes),
                   uint8_t(w.id.wave),
                   0,
                   0,
                   0,
                   0,
                   write,
                   atomic,
                   scope};
    Shadow.access(w, address / kLineBytes, r, [&](const LineConflict &c) {
      ++Races;
      ScopeRaces += c.scopeTooSmall;
    });
  }
  void read(WaveOrder &w, uint64_t a, uint32_t size = 4) { access(w, a, size, false, false, {}); }
  void write(WaveOrder &w, uint64_t a, uint32_t size = 4) { access(w, a, size, true, false, {}); }
  enum Order { Relaxed, Acq, Rel, AcqRel };
  void rmw(WaveOrder &w, uint64_t a, Order o, Scope s = Scope::Agent) { atomic(w, a, o, s, true, true); }
  void store(WaveOrder &w, uint64_t a, Order o, Scope s = Scope::Agent) { atomic(w, a, o, s, false, true); }
  void load(WaveOrder &w, uint64_t a, Order o, Scope s = Scope::Agent) { atomic(w, a, o, s, true, false); }
  void atomic(WaveOrder &w, uint64_t a, Order o, Scope s, bool reads, bool writes) {
    if (o & Rel)
      w.fence(abi::fenceInfo(Release | Both | abi::kFenceImplied, s));
    access(w, a, 4, writes, true, s);
    if (reads)
      w.atomicRead(Sync.find(a), s, o & Acq);
    if (writes)
      w.atomicWrite(*Sync.get(a), s, o & Rel, reads);
  }
  void fence(WaveOrder &w, uint32_t order, Scope s = Scope::Agent) { w.fence(abi::fenceInfo(order | Both, s)); }
  void barrier(uint32_t g, bool fences = true) {
    for (uint32_t w = 0; w < 2; ++w) {
      if (fences)
        fence(at(g, w), Release, Scope::Workgroup);
      Groups[g].arrive(w);
    }
    for (uint32_t w = 0; w < 2; ++w) {
      Groups[g].leave(w);
      if (fences)
        fence(at(g, w), Acquire, Scope::Workgroup);
    }
  }
  std::vector<WorkgroupOrder> Groups;
  SyncTable Sync;
  MemoryBudget Budget;
  MemoryShadow Shadow{Budget};
  uint32_t Site = 0;
  int Races = 0, ScopeRaces = 0;
};
constexpr uint64_t Data = 0x1000, Flag = 0x2000;

TEST(Order, WorkgroupsRaceWithoutSynchronisation) {
  Grid g(2);
  g.write(g.at(0), Data);
  g.read(g.at(1), Data);
  EXPECT_EQ(g.Races, 1);
}
TEST(Order, ReadsAndDisjointBytesDoNotRace) {
  Grid g(3);
  g.read(g.at(0), Data);
  g.read(g.at(1), Data);
  g.write(g.at(2), Data + 4);
  g.write(g.at(1), Data + 8, 1);
  g.write(g.at(0), Data + 9, 1);
  EXPECT_EQ(g.Races, 0);
}
TEST(Order, ReleaseAcquireThroughAFlag) {
  Grid g(2);
  g.write(g.at(0), Data);
  g.store(g.at(0), Flag, Grid::Rel);
  g.load(g.at(1), Flag, Grid::Acq);
  g.read(g.at(1), Data);
  EXPECT_EQ(g.Races, 0);
}
TEST(Order, RelaxedFlagIsNoSynchronisation) {
  for (auto [release, acquire] : {std::pair{Grid::Relaxed, Grid::Acq}, {Grid::Rel, Grid::Relaxed}}) {
    Grid g(2);
    g.write(g.at(0), Data);
    g.store(g.at(0), Flag, release);
    g.load(g.at(1), Flag, acquire);
    g.read(g.at(1), Data);
    EXPECT_EQ(g.Races, 1);
    EXPECT_EQ(g.ScopeRaces, 0);
  }
}
TEST(Order, AnAtomicIsNoFenceForWhatFollowsARelease) { // the toy: every atomic a full fence
  Grid g(2);
  g.store(g.at(0), Flag, Grid::Rel);
  g.write(g.at(0), Data); // behind the release
  g.load(g.at(1), Flag, Grid::Acq);
  g.read(g.at(1), Data);
  EXPECT_EQ(g.Races, 1);
}
TEST(Order, AcquireThatReadsSomethingElseIsNoSynchronisation) {
  Grid g(2);
  g.write(g.at(0), Data);
  g.load(g.at(1), Flag, Grid::Acq); // too early: reads the initial value
  g.store(g.at(0), Flag, Grid::Rel);
  g.read(g.at(1), Data);
  EXPECT_EQ(g.Races, 1);
}
TEST(Order, FencesAroundRelaxedAtomics) {
  Grid g(2);
  g.write(g.at(0), Data);
  g.fence(g.at(0), Release);
  g.store(g.at(0), Flag, Grid::Relaxed);
  g.load(g.at(1), Flag, Grid::Relaxed);
  g.fence(g.at(1), Acquire);
  g.read(g.at(1), Data);
  EXPECT_EQ(g.Races, 0);
}
TEST(Order, FenceOnOneSideOnlyIsNotEnough) {
  for (int missing = 0; missing < 2; ++missing) {
    Grid g(2);
    g.write(g.at(0), Data);
    if (missing != 0)
      g.fence(g.at(0), Release);
    g.store(g.at(0), Flag, Grid::Relaxed);
    g.load(g.at(1), Flag, Grid::Relaxed);
    if (missing != 1)
      g.fence(g.at(1), Acquire);
    g.read(g.at(1), Data);
    EXPECT_EQ(g.Races, 1) << missing;
  }
}
TEST(Order, ReleaseAtomicDoesNotServeLaterRelaxedStoresElsewhere) {
  Grid g(2);
  g.write(g.at(0), Data);
  g.store(g.at(0), Flag, Grid::Rel);
  g.store(g.at(0), Flag + 4096, Grid::Relaxed);
  g.load(g.at(1), Flag + 4096, Grid::Acq);
  g.read(g.at(1), Data);
  EXPECT_EQ(g.Races, 1);
}
TEST(Order, ReleaseSequenceGoesOnOverReadModifyWritesOfOthers) {
  Grid g(3);
  g.write(g.at(0), Data);
  g.rmw(g.at(0), Flag, Grid::Rel);
  g.rmw(g.at(1), Flag, Grid::Relaxed);
  g.load(g.at(2), Flag, Grid::Acq);
  g.read(g.at(2), Data);
  EXPECT_EQ(g.Races, 0);
}
TEST(Order, PlainOrRelaxedStoreEndsTheReleaseSequence) {
  Grid g(3);
  g.write(g.at(0), Data);
  g.rmw(g.at(0), Flag, Grid::Rel);
  g.store(g.at(1), Flag, Grid::Relaxed);
  g.load(g.at(2), Flag, Grid::Acq);
  g.read(g.at(2), Data);
  EXPECT_EQ(g.Races, 1);
}
TEST(Order, LastBlockPattern) {
  Grid g(8);
  for (uint32_t b = 0; b < 8; ++b) {
    g.write(g.at(b), Data + 4 * b);
    g.fence(g.at(b), Release | Acquire);
    g.rmw(g.at(b), Flag, Grid::Relaxed);
    g.fence(g.at(b), Release | Acquire);
  }
  for (uint32_t b = 0; b < 8; ++b)
    g.read(g.at(7), Data + 4 * b);
  EXPECT_EQ(g.Races, 0);
  g.read(g.at(6), Data + 4 * 7); // not the last
  EXPECT_EQ(g.Races, 1);
}
TEST(Order, BarrierCarriesOneWavesKnowledgeToTheOthers) {
  Grid g(2);
  g.write(g.at(0, 1), Data); // wave 1 writes, wave 0 releases
  g.barrier(0);
  g.store(g.at(0, 0), Flag, Grid::Rel);
  g.load(g.at(1, 0), Flag, Grid::Acq);
  g.barrier(1);
  g.read(g.at(1, 1), Data);
  EXPECT_EQ(g.Races, 0);
}
TEST(Order, BareBarrierDoesNotCompleteGlobalStores) {
  Grid g(1);
  g.write(g.at(0, 0), Data);
  g.barrier(0, false);
  g.read(g.at(0, 1), Data);
  EXPECT_EQ(g.Races, 1);
}
TEST(Order, WorkgroupScopeBetweenWorkgroupsIsTooSmallAndSaysSo) {
  for (auto [r, a] : {std::pair{Scope::Workgroup, Scope::Agent}, {Scope::Agent, Scope::Workgroup}}) {
    Grid g(2);
    g.write(g.at(0), Data);
    g.rmw(g.at(0), Flag, Grid::Rel, r);
    g.load(g.at(1), Flag, Grid::Acq, a);
    int flagRaces = g.Races; // the atomics themselves exclude one another only at a common scope
    EXPECT_EQ(flagRaces, 1);
    g.read(g.at(1), Data);
    EXPECT_EQ(g.Races, 2);
    EXPECT_EQ(g.ScopeRaces, 2 - flagRaces);
  }
}
TEST(Order, WorkgroupScopeInsideAWorkgroupSuffices) {
  Grid g(1);
  g.write(g.at(0, 0), Data);
  g.store(g.at(0, 0), Flag, Grid::Rel, Scope::Workgroup);
  g.load(g.at(0, 1), Flag, Grid::Acq, Scope::Workgroup);
  g.read(g.at(0, 1), Data);
  EXPECT_EQ(g.Races, 0);
}
TEST(Order, AtomicsAgainstPlainRace) {
  Grid g(2);
  g.rmw(g.at(0), Data, Grid::Relaxed);
  g.rmw(g.at(1), Data, Grid::Relaxed);
  EXPECT_EQ(g.Races, 0);
  g.read(g.at(1), Data);
  EXPECT_EQ(g.Races, 1);
}
TEST(Order, SpinLockOrdersItsCriticalSections) {
  Grid g(6);
  for (uint32_t b = 0; b < 6; ++b) {
    g.rmw(g.at(b), Flag, Grid::Acq);
    g.read(g.at(b), Data);
    g.write(g.at(b), Data);
    g.store(g.at(b), Flag, Grid::Rel);
  }
  EXPECT_EQ(g.Races, 0);
}
TEST(Order, FenceOfOneAddressSpaceOrdersOnlyThat) {
  Grid g(1);
  g.write(g.at(0, 0), Data);
  for (uint32_t w = 0; w < 2; ++w)
    g.at(0, w).fence(abi::fenceInfo(Release | abi::kFenceLds, Scope::Workgroup));
  g.barrier(0, false);
  g.read(g.at(0, 1), Data);
  EXPECT_EQ(g.Races, 1);
}
TEST(Order, NarrowFenceDoesNotTakeBackAWiderOne) { // __threadfence(); __syncthreads(); relaxed flag
  Grid g(2);
  g.write(g.at(0), Data);
  g.fence(g.at(0), Release);
  g.barrier(0);
  g.store(g.at(0), Flag, Grid::Relaxed);
  g.load(g.at(1), Flag, Grid::Relaxed);
  g.barrier(1);
  g.fence(g.at(1), Acquire);
  g.read(g.at(1), Data);
  EXPECT_EQ(g.Races, 0);
}
TEST(Order, ManyReadersThenAWriter) {
  Grid g(100);
  for (uint32_t b = 0; b < 99; ++b)
    g.read(g.at(b), Data);
  g.write(g.at(99), Data);
  EXPECT_GT(g.Races, 0);
  EXPECT_EQ(g.Shadow.lost(), 0u);
}
TEST(Order, ManyWorkgroupsOnOneCounterAreClean) {
  Grid g(500);
  for (uint32_t b = 0; b < 500; ++b)
    g.rmw(g.at(b), Data, Grid::Relaxed);
  EXPECT_EQ(g.Races, 0);
  EXPECT_EQ(g.Shadow.lost(), 0u);
  g.read(g.at(3), Data);
  EXPECT_GT(g.Races, 0);
}
TEST(Order, LostReaderThatMightMatterIsCounted) {
  Grid g(100);
  for (uint32_t b = 0; b < 99; ++b)
    g.read(g.at(b), Data);
  for (uint32_t b = 0; b < 98; ++b) // all but one tell the writer
    g.rmw(g.at(b), Flag, Grid::AcqRel);
  g.load(g.at(99), Flag, Grid::Acq);
  g.write(g.at(99), Data);
  EXPECT_TRUE(g.Races > 0 || g.Shadow.lost() > 0);
}
TEST(RecordList, AgainstAVector) {
  std::srand(11);
  MemoryBudget budget;
  RecordMemory memory(budget);
  for (int round = 0; round < 60; ++round) {
    // Several lists at once: a block that one outgrows goes to another. Workgroups 2^27 apart have equal keys.
    std::vector<RecordList> lists(4);
    std::vector<std::vector<AccessRecord>> model(4);
    const auto groupOf = [](uint32_t n) { return n % 20 + (1u << 27) * (n / 20); };
    for (uint32_t step = 0; step < 400; ++step) {
      const unsigned l = std::rand() % 4;
      auto &m = model[l];
      AccessRecord r{};
      r.workgroup = groupOf(std::rand() % 40);
      r.wave = uint8_t(std::rand() % 3);
      r.site = step;
      r.mask = step + 1;
      if (m.size() < RecordList::kMost && std::rand() % 4) {
        lists[l].add(r, memory);
        m.push_back(r);
      } else if (!m.empty()) {
        const size_t i = size_t(std::rand()) % m.size();
        if (std::rand() % 2) {
          lists[l].replace(i, r);
          m[i] = r;
        } else {
          lists[l].remove(i);
          m.erase(m.begin() + std::ptrdiff_t(i)); // the others keep their order
        }
      }
      ASSERT_EQ(lists[l].size(), m.size());
      for (size_t i = 0; i < m.size(); ++i)
        ASSERT_EQ(std::memcmp(&lists[l][i], &m[i], sizeof(AccessRecord)), 0);
      const WaveId who{groupOf(std::rand() % 40), uint32_t(std::rand() % 3)};
      size_t found = m.size();
      for (size_t i = m.size(); i-- > 0;)
        if (m[i].who() == who) {
          found = lists[l].of(who, found == m.size() ? RecordList::kMost : found);
          ASSERT_EQ(found, i);
        }
      ASSERT_EQ(lists[l].of(who, found == m.size() ? RecordList::kMost : found), m.size());
    }
  }
}
TEST(SyncTable, AgainstAMap) {
  std::srand(5);
  SyncTable table(nullptr, 300);
  for (int round = 0; round < 5; ++round) {
    std::map<uint64_t, SyncVariable *> model;
    for (int step = 0; step < 3000; ++step) {
      const uint64_t key = 0x7f0000000000 + uint64_t(std::rand() % 400) * (round % 2 ? 4 : 1 << 20);
      const auto known = model.find(key);
      ASSERT_EQ(table.find(key), known == model.end() ? nullptr : known->second);
      if (std::rand() % 2)
        continue;
      SyncVariable *v = table.get(key);
      ASSERT_EQ(v == nullptr, known == model.end() && model.size() == 300);
      if (!v)
        continue;
      if (known == model.end()) {
        ASSERT_TRUE(v->empty() && v->version() == 0) << "not as new";
        for (const auto &[k, other] : model)
          ASSERT_NE(v, other);
        v->wrote();
        v->acquiredBy({1, 2}, 3);
        v->release({std::make_shared<const struct Release>(), Scope::Agent});
      } else {
        ASSERT_EQ(v, known->second);
      }
      model[key] = v;
    }
    table.clear();
    ASSERT_TRUE(table.empty());
  }
}
TEST(SyncTable, KeepsToItsBudget) {
  MemoryBudget budget(64 << 10);
  {
    SyncTable table(&budget);
    uint64_t key = 0;
    while (key < 10000 && table.get(++key * 4))
      ;
    ASSERT_GT(key, 10u);
    ASSERT_LT(key, 10000u);
    EXPECT_LE(budget.used(), 64u << 10);
    EXPECT_NE(table.get(4), nullptr) << "what is there stays";
    table.clear(); // keeps its memory, so it must keep its part of the budget
    EXPECT_NE(table.get(4), nullptr);
    EXPECT_EQ(table.get(4), table.find(4));
  }
  EXPECT_EQ(budget.used(), 0u);
}
TEST(MemoryBudget, ClocksCountAndRecordsLeaveThemRoom) {
  const uint64_t before = ClockMemory::bytes();
  MemoryBudget budget(before + 8000);
  EXPECT_FALSE(budget.take(before + 8000)) << "an eighth is not for records";
  EXPECT_TRUE(budget.take(6000 - before / 8));
  EXPECT_TRUE(budget.hasRoomForOrder());
  std::vector<std::shared_ptr<Bounds>> clocks;
  while (budget.hasRoomForOrder()) {
    clocks.push_back(ClockMemory::make<Bounds>());
    ASSERT_LT(clocks.size(), 100u);
  }
  EXPECT_FALSE(budget.takeForOrder(1));
  EXPECT_GE(ClockMemory::bytes(), before + clocks.size() * sizeof(Bounds));
  clocks.clear();
  EXPECT_EQ(ClockMemory::bytes(), before);
  EXPECT_TRUE(budget.takeForOrder(1000));
}
TEST(Order, AFencePublishesWhatItsWaveKnewThen) {
  for (Scope scope : {Scope::Workgroup, Scope::Agent}) {
    Grid g(2);
    g.write(g.at(0), Data);
    g.rmw(g.at(0), Flag, Grid::AcqRel);
    g.fence(g.at(1), Release, scope);
    g.load(g.at(1), Flag, Grid::Acq); // only behind its fence
    g.store(g.at(1), Flag + 4096, Grid::Relaxed, scope);
    g.load(g.at(1, 1), Flag + 4096, Grid::Acq, scope);
    g.read(g.at(1, 1), Data);
    EXPECT_EQ(g.Races, 1);
  }
}
TEST(Order, ScopesOfOneWaveAreTooSmallBetweenWaves) {
  for (bool fences : {false, true}) {
    Grid g(1);
    g.write(g.at(0), Data);
    if (fences) {
      g.fence(g.at(0), Release, Scope::Wavefront);
      g.store(g.at(0), Flag, Grid::Relaxed, Scope::Workgroup);
      g.load(g.at(0, 1), Flag, Grid::Relaxed, Scope::Workgroup);
      g.fence(g.at(0, 1), Acquire, Scope::Wavefront);
    } else {
      g.store(g.at(0), Flag, Grid::Rel, Scope::Wavefront);
      g.load(g.at(0, 1), Flag, Grid::Acq, Scope::Wavefront);
    }
    const int flag = g.Races;
    EXPECT_EQ(flag, fences ? 0 : 1); // atomics of one wave's scope do not exclude those of another
    g.read(g.at(0, 1), Data);
    EXPECT_EQ(g.Races, flag + 1);
    EXPECT_EQ(g.ScopeRaces, 1);
  }
}
TEST(Order, ANarrowFenceTakesNothingBackFromAWiderOne) {
  Grid g(2);
  g.write(g.at(0), Data);
  g.fence(g.at(0), Release);
  g.fence(g.at(0), Release, Scope::Wavefront);
  g.store(g.at(0), Flag, Grid::Relaxed);
  g.load(g.at(1), Flag, Grid::Acq);
  g.read(g.at(1), Data);
  EXPECT_EQ(g.Races, 0);
}
TEST(Order, ABudgetIsNeverExceededAndWhatDoesNotFitIsCounted) {
  MemoryBudget budget(1 << 20);
  {
    MemoryShadow shadow(budget);
    WorkgroupOrder group(0, 1);
    uint64_t conflicts = 0;
    for (uint64_t line = 0; line < 100000; ++line) {
      AccessRecord r{0, 1, 3, ~uint64_t(0), 0, 0, 0, 0, 0, true, false, {}};
      shadow.access(group.wave(0), line, r, [&](const LineConflict &) { ++conflicts; });
      ASSERT_LE(budget.used(), 1u << 20);
    }
    EXPECT_EQ(conflicts, 0u);
    EXPECT_GT(budget.used(), 1u << 19);
    EXPECT_GT(shadow.unrecorded(), 80000u);
    EXPECT_LT(shadow.unrecorded(), 100000u);
  }
  EXPECT_EQ(budget.used(), 0u);
}
TEST(Order, AFenceIsCarriedOnWithTheWiderScopeOfALaterAtomic) {
  Grid g(2);
  g.write(g.at(0), Data);
  g.fence(g.at(0), Release);
  g.rmw(g.at(0), Flag, Grid::Relaxed, Scope::Workgroup);
  g.rmw(g.at(0), Flag, Grid::Relaxed, Scope::Agent);
  g.load(g.at(1), Flag, Grid::Acq);
  const int races = int(g.Races); // of the flag itself: its first atomic is too narrow
  g.read(g.at(1), Data);
  EXPECT_EQ(int(g.Races), races);
}
TEST(Knowledge, JoinsAgainstAMap) {
  std::srand(7);
  std::vector<Knowledge> k(8);
  std::vector<std::map<uint32_t, Bounds>> model(8);
  for (int step = 0; step < 1500; ++step) {
    const unsigned a = std::rand() % 8, b = std::rand() % 8;
    if (std::rand() % 2) {
      const uint32_t group = std::rand() % 4 ? std::rand() % 50 : uint32_t(std::rand()) * 3u;
      Bounds v{};
      v[std::rand() % v.size()] = std::rand() % 100;
      k[a].add(group, v);
      raise(model[a][group], v);
    } else {
      k[a].join(k[b]);
      for (auto &[group, v] : model[b])
        raise(model[a][group], v);
    }
    for (unsigned i = 0; i < 8; ++i) { // the others too: they share parts
      for (auto &[group, v] : model[i]) {
        ASSERT_TRUE(k[i].find(group));
        ASSERT_EQ(*k[i].find(group), v);
      }
      ASSERT_EQ(k[i].find(0xfffffff0u) != nullptr, model[i].count(0xfffffff0u) != 0);
    }
  }
}

} // namespace
} // namespace wavesan::cpu
