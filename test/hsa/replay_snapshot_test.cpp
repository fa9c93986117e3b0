// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Snapshots over several tiers: what goes where, what happens without room, and that memory comes back.
#include "replay_snapshot.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <sys/resource.h>
#include <vector>

namespace wavesan::hsa {
namespace {

constexpr uint64_t kPart = Snapshot::kChunk;
constexpr hsa_amd_memory_pool_t kDevicePool{1}, kHostPool{2};

std::set<void *> FromPools; ///< that are allocated
uint64_t RefusedPool = 0;

hsa_status_t copyMemory(void *to, const void *from, size_t bytes) {
  std::memcpy(to, from, bytes);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t statusString(hsa_status_t, const char **text) {
  *text = "a reason";
  return HSA_STATUS_SUCCESS;
}
hsa_status_t allocate(hsa_amd_memory_pool_t pool, size_t bytes, uint32_t, void **out) {
  if (pool.handle == RefusedPool)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *out = std::malloc(bytes);
  FromPools.insert(*out);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t release(void *memory) {
  EXPECT_EQ(FromPools.erase(memory), 1u);
  std::free(memory);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t allow(uint32_t, const hsa_agent_t *, const uint32_t *, const void *) { return HSA_STATUS_SUCCESS; }

class SnapshotTiers : public ::testing::Test {
protected:
  SnapshotTiers() {
    RefusedPool = 0;
    Runtime.core.hsa_memory_copy_fn = copyMemory;
    Runtime.core.hsa_status_string_fn = statusString;
    Runtime.amd.hsa_amd_memory_pool_allocate_fn = allocate;
    Runtime.amd.hsa_amd_memory_pool_free_fn = release;
    Runtime.amd.hsa_amd_agents_allow_access_fn = allow;
    AgentInfo info;
    info.shadow = kDevicePool;
    info.control = info.kernarg = kHostPool;
    Agent = std::make_shared<const AgentInfo>(info);
    for (size_t i = 0; i < Data.size(); ++i)
      Data[i] = uint8_t(i * 7 + i / kPart);
    Memory.add(MemoryMap::Kind::Allocation, Data.data(), Data.size());
  }
  ~SnapshotTiers() override { EXPECT_TRUE(FromPools.empty()); }

  std::unique_ptr<Snapshot> make(const std::string &directory = std::filesystem::temp_directory_path().string()) {
    return std::make_unique<Snapshot>(Runtime, Memory, *Budgets, directory, Agent);
  }
  void limit(const TierBytes &limits) { Budgets = std::make_unique<TierBudgets>(limits); }

  /// Saves with these budgets, changes all of it, and restores. Returns what save() said.
  TierBytes roundTrip(const TierBytes &limits) {
    limit(limits);
    const std::vector<uint8_t> before = Data;
    const auto snapshot = make();
    MemoryStep step = snapshot->plan();
    EXPECT_TRUE(step.fits);
    const TierBytes planned = step.tiers;
    EXPECT_EQ(snapshot->save(step, Error), nullptr) << Error;
    EXPECT_EQ(step.tiers, planned);
    EXPECT_EQ(step.bytes, Data.size());
    for (uint8_t &byte : Data)
      byte = uint8_t(~byte);
    MemoryStep restored;
    EXPECT_TRUE(snapshot->restore(restored, Error)) << Error;
    EXPECT_EQ(restored.bytes, Data.size());
    EXPECT_EQ(Data, before);
    return step.tiers;
  }

  std::vector<uint8_t> Data = std::vector<uint8_t>(5 * kPart + 77);
  Api Runtime{};
  std::atomic<uint64_t> Latest{0};
  MemoryMap Memory{Latest};
  std::shared_ptr<const AgentInfo> Agent;
  std::unique_ptr<TierBudgets> Budgets;
  std::string Error;
};

// What is kept for the next snapshot is used by it, and never more than the budget leaves.
TEST_F(SnapshotTiers, PagesAreUsedAgain) {
  limit({0, 0, 2 * Data.size(), 0});
  MemoryStep step;
  const uint8_t *first = nullptr;
  for (int round = 0; round < 3; ++round) {
    const auto snapshot = make();
    snapshot->plan();
    ASSERT_EQ(snapshot->save(step, Error), nullptr) << Error;
    const uint8_t *memory = snapshot->saved()[0].pieces[0].memory;
    EXPECT_EQ(round ? memory : first, first);
    first = memory;
    Data[round] ^= 1; // the next one must not find what this one held
    EXPECT_TRUE(snapshot->restore(step, Error)) << Error;
    EXPECT_EQ(step.bytes, Snapshot::kChunk);
    EXPECT_EQ(Budgets->pages().kept(), 0u);
  }
  EXPECT_EQ(Budgets->pages().kept(), Data.size());
  EXPECT_TRUE(Budgets->take(Tier::Pageable, Data.size())); // beside what is kept
  EXPECT_EQ(Budgets->pages().kept(), Data.size());
  EXPECT_TRUE(Budgets->take(Tier::Pageable, 1));
  EXPECT_EQ(Budgets->pages().kept(), 0u);
}

TEST(SnapshotPages, OnlyWhatHasBeenTouchedCounts) {
  using Block = SnapshotPages::Block;
  SnapshotPages pages;
  const uint64_t most = SnapshotPages::kMost, chunk = SnapshotPages::kChunk;
  Block large = pages.take(4 * most);
  const uint8_t *address = large.memory.get();
  EXPECT_EQ(large.touchedBytes(), 0u);
  large.touched.assign(8, false);
  large.touched[3] = large.touched[7] = true;
  pages.give(std::move(large));
  EXPECT_EQ(pages.kept(), 2 * chunk);
  EXPECT_NE(pages.take(4 * most - 1).memory.get(), address);
  large = pages.take(4 * most);
  EXPECT_EQ(large.memory.get(), address);
  EXPECT_EQ(large.touchedBytes(), 2 * chunk);
  EXPECT_EQ(pages.kept(), 0u);
  large.touched.assign(4 * most / chunk, true);
  pages.give(std::move(large)); // too much
  EXPECT_EQ(pages.kept(), 0u);
  // The oldest goes.
  for (uint64_t i = 0; i < 3; ++i) {
    Block block = pages.take(most / 2 + i);
    block.touched.assign(most / 2 / chunk, true);
    pages.give(std::move(block));
  }
  EXPECT_EQ(pages.kept(), most);
  EXPECT_TRUE(pages.take(most / 2).touched.empty());
  EXPECT_FALSE(pages.take(most / 2 + 2).touched.empty());
  EXPECT_EQ(pages.take(UINT64_MAX / 4).memory.get(), nullptr);
}

TEST_F(SnapshotTiers, EachTierAlone) {
  for (size_t tier = 0; tier < kTiers; ++tier) {
    TierBytes limits{}, expected{};
    limits[tier] = Data.size();
    expected[tier] = Data.size();
    EXPECT_EQ(roundTrip(limits), expected) << tier;
  }
}

TEST_F(SnapshotTiers, OneRegionOverAllOfThem) {
  // What is less than a chunk of a budget is not used.
  EXPECT_EQ(roundTrip({kPart + 5, kPart, 2 * kPart - 1, UINT64_MAX}), (TierBytes{kPart, kPart, kPart, 2 * kPart + 77}));
}

TEST_F(SnapshotTiers, WithoutAnAgentThereAreTwoTiers) {
  limit({UINT64_MAX, UINT64_MAX, kPart, UINT64_MAX});
  Snapshot snapshot(Runtime, Memory, *Budgets, std::filesystem::temp_directory_path().string());
  EXPECT_EQ(snapshot.plan().tiers, (TierBytes{0, 0, kPart, 4 * kPart + 77}));
}

TEST_F(SnapshotTiers, ASumThatDoesNotDo) {
  limit({kPart, kPart, kPart, 2 * kPart + 76});
  const auto snapshot = make();
  MemoryStep step = snapshot->plan();
  EXPECT_FALSE(step.fits);
  EXPECT_STREQ(snapshot->save(step, Error), kDeclineBudget);
  EXPECT_TRUE(snapshot->saved().empty());
  EXPECT_TRUE(FromPools.empty());
  EXPECT_EQ(Budgets->room(), (TierBytes{kPart, kPart, kPart, 2 * kPart + 76})); // all is given back
}

TEST_F(SnapshotTiers, BudgetsAreThoseOfAllSnapshotsTogether) {
  limit({0, Data.size(), Data.size(), 0});
  const auto first = make(), second = make(), third = make();
  MemoryStep step = first->plan();
  ASSERT_EQ(first->save(step, Error), nullptr);
  step = second->plan(*first);
  ASSERT_EQ(second->save(step, Error), nullptr);
  EXPECT_EQ(step.tiers[size_t(Tier::Pageable)], Data.size());
  step = third->plan();
  EXPECT_FALSE(step.fits);
  EXPECT_STREQ(third->save(step, Error), kDeclineBudget);
}

TEST_F(SnapshotTiers, WhereThereIsNoMemoryTheNextTierHasIt) {
  RefusedPool = kDevicePool.handle;
  limit({UINT64_MAX, UINT64_MAX, UINT64_MAX, 0});
  const auto snapshot = make();
  MemoryStep step = snapshot->plan();
  EXPECT_EQ(step.tiers[size_t(Tier::Device)], Data.size());
  EXPECT_EQ(snapshot->save(step, Error), nullptr);
  EXPECT_EQ(step.tiers, (TierBytes{0, Data.size(), 0, 0}));
  EXPECT_EQ(Error, "");
}

TEST_F(SnapshotTiers, NoMemoryAtAll) {
  RefusedPool = kDevicePool.handle;
  limit({UINT64_MAX, 0, 0, 0});
  const auto snapshot = make();
  MemoryStep step = snapshot->plan();
  EXPECT_STREQ(snapshot->save(step, Error), kDeclineSnapshot);
  EXPECT_EQ(Error, "no device memory for " + std::to_string(Data.size()) + " bytes (a reason)");
  EXPECT_EQ(Budgets->room()[0], UINT64_MAX);
}

TEST_F(SnapshotTiers, AFullDisk) {
  limit({0, kPart, kPart, UINT64_MAX});
  const auto snapshot = make();
  MemoryStep step = snapshot->plan();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 2 * kPart;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const char *why = snapshot->save(step, Error);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_STREQ(why, kDeclineFile);
  EXPECT_NE(Error.find("cannot write to a file in "), std::string::npos) << Error;
  EXPECT_NE(Error.find(": File too large"), std::string::npos) << Error;
  EXPECT_TRUE(snapshot->saved().empty());
  EXPECT_TRUE(FromPools.empty());
}

TEST_F(SnapshotTiers, NoDirectory) {
  limit({0, 0, 0, UINT64_MAX});
  const auto snapshot = make("/nowhere");
  MemoryStep step = snapshot->plan();
  EXPECT_STREQ(snapshot->save(step, Error), kDeclineFile);
  EXPECT_EQ(Error, "no file in /nowhere: No such file or directory");
}

TEST_F(SnapshotTiers, KeptWholeItIsInPageableMemory) {
  limit({UINT64_MAX, UINT64_MAX, Data.size() - 1, UINT64_MAX});
  const auto snapshot = make();
  snapshot->keepWhole();
  EXPECT_FALSE(snapshot->plan().fits);
  limit({UINT64_MAX, UINT64_MAX, Data.size(), UINT64_MAX});
  const auto fitting = make();
  fitting->keepWhole();
  MemoryStep step = fitting->plan();
  EXPECT_EQ(fitting->save(step, Error), nullptr);
  EXPECT_EQ(step.tiers, (TierBytes{0, 0, Data.size(), 0}));
  EXPECT_EQ(std::memcmp(Snapshot::wholeBytes(fitting->saved()[0]), Data.data(), Data.size()), 0);
}

TEST_F(SnapshotTiers, ThePredictionIsThatOfTheTiersSpeeds) {
  std::vector<uint8_t> large(8 << 20);
  Memory.add(MemoryMap::Kind::Allocation, large.data(), large.size());
  limit({0, 0, 0, UINT64_MAX});
  const auto snapshot = make();
  MemoryStep first = snapshot->plan(), taken = first;
  EXPECT_GT(first.nanoseconds, 0u);
  ASSERT_EQ(snapshot->save(taken, Error), nullptr) << Error;
  const MemoryStep second = snapshot->plan();
  EXPECT_NE(second.nanoseconds, first.nanoseconds); // what was measured
  EXPECT_LT(second.nanoseconds, 2 * taken.nanoseconds);
}

TEST_F(SnapshotTiers, WhatIsLeftOutStaysAsItIs) {
  std::vector<uint8_t> other(3 * 4096, 1);
  Memory.add(MemoryMap::Kind::Allocation, other.data(), other.size());
  limit({0, 0, UINT64_MAX, 0});
  const auto isOther = [&](const MemoryMap::LiveRange &range) {
    return range.begin == reinterpret_cast<uint64_t>(other.data());
  };
  Snapshot snapshot(Runtime, Memory, *Budgets, "/nowhere", Agent, isOther);
  MemoryStep step = snapshot.plan();
  EXPECT_EQ(step.bytes, Data.size());
  EXPECT_EQ(step.tracked, Data.size());
  ASSERT_EQ(snapshot.save(step, Error), nullptr) << Error;
  other[7] = Data[7] = uint8_t(~Data[7]);
  ASSERT_TRUE(snapshot.restore(step, Error)) << Error;
  EXPECT_NE(other[7], 1);
  EXPECT_EQ(Data[7], uint8_t(7 * 7));
  // A capsule needs all of it.
  Snapshot whole(Runtime, Memory, *Budgets, "/nowhere", Agent, isOther);
  whole.keepWhole();
  EXPECT_EQ(whole.plan().bytes, Data.size() + other.size());
}

TEST_F(SnapshotTiers, OnlyWhatTheDispatchesCanWrite) {
  std::vector<uint8_t> other(3 * 4096 + kPart), third(3 * 4096 + kPart);
  Memory.add(MemoryMap::Kind::Allocation, other.data(), other.size());
  Memory.add(MemoryMap::Kind::Allocation, third.data(), third.size());
  limit({0, 0, UINT64_MAX, 0});
  const std::vector<KernelStore> stores = {{0u, ""}};
  const uint64_t toData = reinterpret_cast<uint64_t>(Data.data() + kPart),
                 toOther = reinterpret_cast<uint64_t>(other.data() + 8192);
  const auto snapshot = make();
  EXPECT_EQ(snapshot->plan({{&stores, &toData, 8}}).bytes, Data.size());
  EXPECT_EQ(snapshot->plan({{&stores, &toData, 8}, {&stores, &toOther, 8}}).bytes, Data.size() + other.size());
  // Of one nothing is known.
  const MemoryStep all = snapshot->plan({{&stores, &toData, 8}, {}});
  EXPECT_EQ(all.bytes, Data.size() + other.size() + third.size());
  EXPECT_EQ(all.tracked, all.bytes);
}

/// An agent that is told what is written.
abi::WriteRecord *Asking = nullptr;
constexpr abi::CpuAgent kAgent{abi::kAbiVersion,
                               nullptr,
                               nullptr,
                               [](abi::WriteRecord *record) { Asking = record; },
                               [](abi::WriteRecord *record) {
                                 EXPECT_EQ(Asking, record);
                                 Asking = nullptr;
                               },
                               nullptr};

/// As the agent does it: first a note, then the byte.
void write(uint8_t &to, uint8_t value) {
  const auto address = reinterpret_cast<uint64_t>(&to);
  for (uint64_t i = 0; Asking && i < Asking->count; ++i) {
    const abi::WriteRecord::Region &r = Asking->regions[i];
    if (address - r.begin >= r.bytes)
      continue;
    const uint64_t chunk = (address - r.begin) / kPart, at = chunk * kPart;
    if (r.state[chunk].exchange(abi::WriteRecord::Touched) == abi::WriteRecord::Untouched && r.copy)
      std::memcpy(r.copy + at, reinterpret_cast<void *>(r.begin + at), std::min(kPart, r.bytes - at));
  }
  to = value;
}

TEST_F(SnapshotTiers, RecordedIsCopiedWhenItIsWritten) {
  for (const TierBytes &limits : {TierBytes{0, 0, UINT64_MAX, 0}, TierBytes{kPart, kPart, UINT64_MAX, 0}}) {
    limit(limits);
    const std::vector<uint8_t> before = Data;
    const auto snapshot = make();
    snapshot->recordWrites(kAgent);
    MemoryStep step = snapshot->plan();
    ASSERT_EQ(snapshot->save(step, Error), nullptr) << Error;
    EXPECT_EQ(step.bytes, Data.size());
    EXPECT_EQ(step.copied, 0u);
    write(Data[3 * kPart + 5], 99);
    write(Data[5 * kPart + 76], 99); // the last one is short
    ASSERT_TRUE(snapshot->restore(step, Error)) << Error;
    EXPECT_EQ(Data, before);
    EXPECT_EQ(step.bytes, kPart + 77);
    EXPECT_EQ(step.copied, kPart + 77);
    // Another pass writes elsewhere, and leaves alone what the first one wrote.
    write(Data[0], 98);
    write(Data[2 * kPart], 98);
    ASSERT_TRUE(snapshot->restore(step, Error)) << Error;
    EXPECT_EQ(Data, before);
    EXPECT_EQ(step.bytes, 2 * kPart);
    EXPECT_EQ(step.copied, 3 * kPart + 77);
    // Only what has been noted is looked at.
    Data[kPart] = uint8_t(~Data[kPart]);
    ASSERT_TRUE(snapshot->restore(step, Error)) << Error;
    EXPECT_EQ(step.bytes, 0u);
    Data[kPart] = before[kPart];
  }
  EXPECT_EQ(Asking, nullptr);
}

TEST_F(SnapshotTiers, WhatGoesToAFileIsCopiedBefore) {
  limit({0, 0, kPart, UINT64_MAX});
  const std::vector<uint8_t> before = Data;
  const auto snapshot = make();
  snapshot->recordWrites(kAgent);
  MemoryStep step = snapshot->plan();
  ASSERT_EQ(snapshot->save(step, Error), nullptr) << Error;
  EXPECT_EQ(step.copied, 4 * kPart + 77);
  write(Data[1], 99);
  write(Data[4 * kPart], 99);
  Data[2 * kPart] ^= 1; // not noted
  ASSERT_TRUE(snapshot->restore(step, Error)) << Error;
  EXPECT_EQ(step.bytes, 2 * kPart);
  Data[2 * kPart] ^= 1;
  EXPECT_EQ(Data, before);
}

TEST_F(SnapshotTiers, WhatTheRecordCouldMissCountsAsWritten) {
  std::vector<uint8_t> other(2 * kPart, 1), registered(4096);
  Memory.add(MemoryMap::Kind::Allocation, other.data(), other.size());
  // The device sees a part of Data at another address.
  Memory.add(MemoryMap::Kind::RegisteredHost, registered.data(), registered.size(), Data.data() + 5000);
  limit({0, 0, UINT64_MAX, 0});
  const auto snapshot = make();
  snapshot->recordWrites(kAgent, [&](const MemoryMap::LiveRange &range) {
    return range.begin == reinterpret_cast<uint64_t>(other.data());
  });
  MemoryStep step = snapshot->plan();
  ASSERT_EQ(snapshot->save(step, Error), nullptr) << Error;
  EXPECT_EQ(step.copied, Data.size() + other.size() + registered.size());
  EXPECT_EQ(Asking, nullptr);
  Data[5] ^= 1, other[5] ^= 1, registered[5] ^= 1;
  ASSERT_TRUE(snapshot->restore(step, Error)) << Error;
  EXPECT_EQ(step.bytes, 2 * kPart + registered.size());
}

TEST_F(SnapshotTiers, ACapsuleIsNotRecorded) {
  limit({0, 0, UINT64_MAX, 0});
  const auto snapshot = make();
  snapshot->recordWrites(kAgent);
  snapshot->keepWhole();
  MemoryStep step = snapshot->plan();
  ASSERT_EQ(snapshot->save(step, Error), nullptr) << Error;
  EXPECT_EQ(step.copied, Data.size());
  EXPECT_EQ(Asking, nullptr);
}

/// As the device runtime does it: the chunks of [at, at + bytes) in the map, then the bytes.
void noteAndFlip(uint64_t map, uint8_t *at, size_t bytes) {
  const auto *head = reinterpret_cast<const abi::TouchMap *>(map);
  const auto *regions = reinterpret_cast<const abi::TouchRegion *>(head->regions);
  for (size_t i = 0; i < bytes; ++i) {
    for (uint32_t r = 0; r < head->regionCount; ++r)
      if (const uint64_t in = reinterpret_cast<uint64_t>(at + i) - regions[r].begin; in < regions[r].bytes)
        reinterpret_cast<uint8_t *>(regions[r].chunks)[in / abi::kTouchChunk] = 1;
    at[i] = uint8_t(~at[i]);
  }
}

TEST_F(SnapshotTiers, WhatTheDeviceHasNotedIsPutBack) {
  constexpr uint64_t kNote = abi::kTouchChunk;
  for (const TierBytes &limits : {TierBytes{0, 0, UINT64_MAX, 0}, TierBytes{kPart, kPart, UINT64_MAX, 0},
                                  TierBytes{0, 0, 2 * kPart + 5000, UINT64_MAX}, TierBytes{UINT64_MAX, 0, 4096, 0}}) {
    limit(limits);
    const std::vector<uint8_t> before = Data;
    const auto snapshot = make();
    snapshot->noteWrites(nullptr);
    EXPECT_EQ(snapshot->touchMap(), 0u);
    MemoryStep step = snapshot->plan();
    ASSERT_EQ(snapshot->save(step, Error), nullptr) << Error;
    EXPECT_EQ(step.copied, Data.size()); // nobody could copy later
    const uint64_t map = snapshot->touchMap();
    ASSERT_NE(map, 0u);
    ASSERT_TRUE(snapshot->restore(step, Error)) << Error; // nothing has been written
    EXPECT_EQ(step.compared, 0u);
    noteAndFlip(map, &Data[3 * kPart + kNote - 2], 4); // over a border of the map
    noteAndFlip(map, &Data[2 * kPart - 1], 2);         // and of the snapshot's chunks
    noteAndFlip(map, &Data[5 * kPart + 76], 1);        // the last one is short
    snapshot->passEnded(true);
    ASSERT_TRUE(snapshot->restore(step, Error)) << Error;
    EXPECT_EQ(Data, before);
    EXPECT_EQ(step.compared, 4 * kNote + 77);
    EXPECT_EQ(step.bytes, step.compared);
    EXPECT_EQ(step.regions, 1u);
    // Another pass writes elsewhere; what the first one wrote is looked at, too.
    noteAndFlip(map, &Data[7 * kNote], 1);
    snapshot->passEnded(true);
    ASSERT_TRUE(snapshot->restore(step, Error)) << Error;
    EXPECT_EQ(Data, before);
    EXPECT_EQ(step.compared, 5 * kNote + 77);
    EXPECT_EQ(step.bytes, kNote);
    // A pass that notes nothing: everything is.
    Data[kPart] = uint8_t(~Data[kPart]);
    snapshot->passEnded(false);
    ASSERT_TRUE(snapshot->restore(step, Error)) << Error;
    EXPECT_EQ(Data, before);
    EXPECT_EQ(step.compared, Data.size());
    snapshot->passEnded(true); // and stays so
    ASSERT_TRUE(snapshot->restore(step, Error)) << Error;
    EXPECT_EQ(step.compared, Data.size());
  }
}

// A restore by a map gives what one without it gives, whatever is written.
TEST_F(SnapshotTiers, ByTheMapAsWithout) {
  uint64_t random = 7;
  const auto next = [&](uint64_t below) {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    return (random >> 33) % below;
  };
  std::vector<uint8_t> other(3 * kPart + 4097, 3);
  Memory.add(MemoryMap::Kind::Allocation, other.data(), other.size());
  limit({kPart, 0, UINT64_MAX, 0});
  const std::vector<uint8_t> before = Data, otherBefore = other;
  for (int round = 0; round < 50; ++round) {
    const auto snapshot = make();
    snapshot->noteWrites(nullptr);
    MemoryStep step = snapshot->plan();
    ASSERT_EQ(snapshot->save(step, Error), nullptr) << Error;
    for (int pass = 0; pass < 3; ++pass) {
      for (uint64_t n = next(20); n != 0; --n) {
        std::vector<uint8_t> &to = next(2) ? Data : other;
        const uint64_t at = next(to.size());
        noteAndFlip(snapshot->touchMap(), &to[at], std::min(1 + next(10000), to.size() - at));
      }
      snapshot->passEnded(true);
      ASSERT_TRUE(snapshot->restore(step, Error)) << Error;
      ASSERT_EQ(Data, before);
      ASSERT_EQ(other, otherBefore);
    }
  }
}

TEST_F(SnapshotTiers, WithoutRoomForTheMapAllCountsAsWritten) {
  const uint64_t chunks = abi::touchChunks(Data.size()),
                 block = sizeof(abi::TouchMap) + sizeof(abi::TouchRegion) + chunks;
  for (const bool fits : {true, false}) {
    limit({0, 0, Data.size() + chunks + block - !fits, 0});
    const auto snapshot = make();
    snapshot->noteWrites(nullptr);
    MemoryStep step = snapshot->plan();
    ASSERT_EQ(snapshot->save(step, Error), nullptr) << Error;
    EXPECT_EQ(snapshot->touchMap() != 0, fits);
    EXPECT_EQ(Budgets->room()[size_t(Tier::Pageable)], fits ? 0 : chunks + block - 1); // nothing is held for nothing
    snapshot->passEnded(true);
    Data[0] ^= 1;
    ASSERT_TRUE(snapshot->restore(step, Error)) << Error;
    EXPECT_EQ(step.compared, fits ? 0 : Data.size());
    Data[0] = 0;
  }
  limit({0, 0, UINT64_MAX, 0});
  RefusedPool = kDevicePool.handle;
  const auto snapshot = make();
  snapshot->noteWrites(nullptr);
  MemoryStep step = snapshot->plan();
  ASSERT_EQ(snapshot->save(step, Error), nullptr) << Error;
  EXPECT_EQ(snapshot->touchMap(), 0u);
}

TEST_F(SnapshotTiers, WhatTheMapCouldMissCountsAsWritten) {
  std::vector<uint8_t> other(2 * kPart, 1), registered(4096);
  Memory.add(MemoryMap::Kind::Allocation, other.data(), other.size());
  // The device sees a part of Data at another address.
  Memory.add(MemoryMap::Kind::RegisteredHost, registered.data(), registered.size(), Data.data() + 5000);
  std::vector<uint8_t> third(kPart);
  Memory.add(MemoryMap::Kind::Allocation, third.data(), third.size());
  limit({0, 0, UINT64_MAX, 0});
  const auto snapshot = make();
  snapshot->noteWrites(
      [&](const MemoryMap::LiveRange &range) { return range.begin == reinterpret_cast<uint64_t>(other.data()); });
  MemoryStep step = snapshot->plan();
  ASSERT_EQ(snapshot->save(step, Error), nullptr) << Error;
  Data[5] ^= 1, other[5] ^= 1, registered[5] ^= 1;
  noteAndFlip(snapshot->touchMap(), &third[9], 1);
  snapshot->passEnded(true);
  ASSERT_TRUE(snapshot->restore(step, Error)) << Error;
  EXPECT_EQ(step.compared, Data.size() + other.size() + registered.size() + abi::kTouchChunk);
  EXPECT_EQ(step.bytes, 2 * kPart + registered.size() + abi::kTouchChunk);
  EXPECT_EQ(third[9], 0);
}

// What the first pass has left is that of the chunks which it has noted.
TEST_F(SnapshotTiers, WhatTheFirstPassHasNoted) {
  limit({0, 0, UINT64_MAX, 0});
  const std::vector<uint8_t> before = Data;
  const auto snapshot = make(), after = make();
  snapshot->noteWrites(nullptr);
  MemoryStep step = snapshot->plan();
  ASSERT_EQ(snapshot->save(step, Error), nullptr) << Error;
  noteAndFlip(snapshot->touchMap(), &Data[10], 1);
  snapshot->passEnded(true);
  const std::vector<uint8_t> left = Data;
  after->plan(*snapshot);
  ASSERT_EQ(after->save(step, Error), nullptr) << Error;
  EXPECT_EQ(step.copied, kPart);
  EXPECT_EQ(after->touchMap(), 0u);
  uint8_t scratch[8];
  const uint8_t *untouched = after->savedBytes(after->saved()[0], 2 * kPart, 8, scratch, Error);
  EXPECT_EQ(untouched, scratch); // it is read, not looked at through a pointer of the device
  EXPECT_EQ(std::memcmp(scratch, &Data[2 * kPart], 8), 0);
  ASSERT_TRUE(snapshot->restore(step, Error)) << Error;
  EXPECT_EQ(Data, before);
  noteAndFlip(snapshot->touchMap(), &Data[10], 2);
  noteAndFlip(snapshot->touchMap(), &Data[3 * kPart], 2);
  snapshot->passEnded(true);
  ASSERT_TRUE(snapshot->restore(step, Error, after.get())) << Error;
  EXPECT_EQ(step.bytes, abi::kTouchChunk); // the other chunk will be that of `after`
  ASSERT_TRUE(after->restore(step, Error)) << Error;
  EXPECT_EQ(Data, left);
}

// A pass that nobody waits for writes into the map when the snapshot is gone.
TEST_F(SnapshotTiers, AMapThatIsLeftToItsPass) {
  limit({0, 0, UINT64_MAX, 0});
  {
    const auto snapshot = make();
    snapshot->noteWrites(nullptr);
    MemoryStep step = snapshot->plan();
    ASSERT_EQ(snapshot->save(step, Error), nullptr) << Error;
    snapshot->abandonMap();
  }
  ASSERT_EQ(FromPools.size(), 1u);
  release(*FromPools.begin());
}

TEST_F(SnapshotTiers, WhatTheFirstPassLeft) {
  std::vector<uint8_t> unknown(3000, 1);
  Memory.add(MemoryMap::Kind::Allocation, unknown.data(), unknown.size());
  limit({0, 0, UINT64_MAX, 0});
  const auto before = make(), after = make();
  before->recordWrites(kAgent, [&](const MemoryMap::LiveRange &range) {
    return range.begin == reinterpret_cast<uint64_t>(unknown.data());
  });
  MemoryStep step = before->plan();
  ASSERT_EQ(before->save(step, Error), nullptr) << Error;
  write(Data[7], 99);
  write(Data[2 * kPart], 99);
  unknown[7] = 99;
  const std::vector<uint8_t> left = Data, leftUnknown = unknown;
  step = after->plan(*before);
  ASSERT_EQ(after->save(step, Error), nullptr) << Error;
  EXPECT_EQ(step.copied, 2 * kPart + unknown.size()); // the rest is as before
  // Further passes write some of it again, and something else.
  for (uint8_t value : {1, 2}) {
    ASSERT_TRUE(before->restore(step, Error)) << Error;
    write(Data[7], value);
    write(Data[4 * kPart + value], value);
    unknown[8] = value;
  }
  ASSERT_TRUE(before->restore(step, Error, after.get())) << Error;
  ASSERT_TRUE(after->restore(step, Error)) << Error;
  EXPECT_EQ(Data, left);
  EXPECT_EQ(unknown, leftUnknown);
}

/// A dispatch that does not end goes on making copies where the snapshot was.
TEST_F(SnapshotTiers, MemoryThatSomebodyMayStillCopyTo) {
  limit({0, UINT64_MAX, 0, 0});
  auto snapshot = make();
  snapshot->recordWrites(kAgent);
  MemoryStep step = snapshot->plan();
  ASSERT_EQ(snapshot->save(step, Error), nullptr) << Error;
  abi::WriteRecord *held = Asking;
  held->holders = 1;
  snapshot.reset();
  EXPECT_EQ(Asking, nullptr);
  EXPECT_EQ(FromPools.size(), 1u);
  std::memset(held->regions[0].copy, 1, held->regions[0].bytes);
  held->holders = 0;
  make().reset(); // the next one gives it back
  EXPECT_TRUE(FromPools.empty());
  EXPECT_EQ(Budgets->room()[size_t(Tier::Pinned)], UINT64_MAX);
}

TEST(ReachedByOneAddress, RangesThatShareMemory) {
  using Range = MemoryMap::LiveRange;
  constexpr auto kAllocation = MemoryMap::Kind::Allocation, kVariable = MemoryMap::Kind::DeviceVariable;
  const std::vector<Range> live = {{kAllocation, 100, 50, 1},  {kVariable, 200, 100, 0},  {kVariable, 210, 8, 0},
                                   {kVariable, 250, 8, 0},     {kAllocation, 300, 50, 2}, {kAllocation, 350, 50, 3},
                                   {kAllocation, 1000, 50, 4}, {kAllocation, 1050, 50, 5}};
  EXPECT_EQ(reachedByOneAddress(live, live), (std::vector<bool>{true, false, false, false, true, true, true, true}));
  std::vector<Range> more = live;
  more.push_back({MemoryMap::Kind::RegisteredHost, 5000, 10, 1, "", 1045}); // the host's 1045 to 1055
  EXPECT_EQ(reachedByOneAddress(more, more),
            (std::vector<bool>{true, false, false, false, true, true, false, false, false}));
  EXPECT_EQ(reachedByOneAddress({{kAllocation, 100, 50, 1}}, {}), (std::vector<bool>{false})); // freed meanwhile
}

} // namespace
} // namespace wavesan::hsa
