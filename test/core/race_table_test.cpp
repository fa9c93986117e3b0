// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/core/race_table.h"

#include "wavesan/abi/site_table.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace wavesan {

namespace {
struct HostMemory {
  uint64_t load64(uint64_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
  uint64_t compareExchange64(uint64_t *p, uint64_t expected, uint64_t desired) {
    __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return expected;
  }
  void add32(uint32_t *p, uint32_t v) { __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
  void storeRelease32(uint32_t *p, uint32_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
};
struct Table {
  explicit Table(uint32_t capacity) : Bytes(sizeof(abi::RaceTable) + capacity * sizeof(abi::RaceRecord)) {
    head()->capacity = capacity;
  }
  abi::RaceTable *head() { return reinterpret_cast<abi::RaceTable *>(Bytes.data()); }
  abi::RaceRecord *records() { return reinterpret_cast<abi::RaceRecord *>(head() + 1); }
  std::vector<uint8_t> Bytes;
};

abi::RaceRecord record(uint32_t current, uint32_t previous) {
  abi::RaceRecord r{};
  r.key = abi::raceKey(current, previous, abi::RaceClass::Race);
  r.raceClass = uint32_t(abi::RaceClass::Race);
  r.address = current * 4;
  r.current.site = current;
  r.previous.site = previous;
  return r;
}
} // namespace

TEST(RaceTable, SamePairIsCountedAndTheFirstDetailsStay) {
  Table t(8);
  HostMemory m;
  abi::RaceRecord first = record(1, 2), second = record(1, 2);
  second.address = 999;
  EXPECT_TRUE(core::addRace(m, t.head(), first));
  EXPECT_TRUE(core::addRace(m, t.head(), second));
  EXPECT_EQ(t.head()->used, 1u);
  for (uint32_t i = 0; i < 8; ++i)
    if (t.records()[i].key) {
      EXPECT_EQ(t.records()[i].count, 2u);
      EXPECT_EQ(t.records()[i].address, 4u);
      EXPECT_EQ(t.records()[i].ready, 1u);
    }
}
TEST(RaceTable, OrderAndClassMakeDifferentEntries) {
  EXPECT_NE(abi::raceKey(1, 2, abi::RaceClass::Race), abi::raceKey(2, 1, abi::RaceClass::Race));
  EXPECT_NE(abi::raceKey(1, 2, abi::RaceClass::Race), abi::raceKey(1, 2, abi::RaceClass::MissingFence));
  EXPECT_NE(abi::raceKey(1, 2, abi::RaceClass::Race), abi::raceKey(1, 2, abi::RaceClass::Race, true));
  // The last site still has a key of its own for both.
  EXPECT_NE(abi::raceKey(abi::kMaxSites - 1, 2, abi::RaceClass::Race),
            abi::raceKey(abi::kMaxSites - 1, 2, abi::RaceClass::Race, true));
  EXPECT_NE(abi::raceKey(abi::kNoSite, 2, abi::RaceClass::EarlyExit),
            abi::raceKey(2, abi::kNoSite, abi::RaceClass::EarlyExit));
  EXPECT_NE(abi::raceKey(0, 0, abi::RaceClass::Race), 0u);
}
TEST(RaceTable, FullTableSaysSo) {
  Table t(4);
  HostMemory m;
  for (uint32_t i = 0; i < 4; ++i)
    EXPECT_TRUE(core::addRace(m, t.head(), record(i, 100)));
  EXPECT_FALSE(core::addRace(m, t.head(), record(50, 100)));
  EXPECT_TRUE(core::addRace(m, t.head(), record(2, 100))) << "a known pair still finds its entry";
}
TEST(RaceTable, ThreadsAgreeOnOneEntryPerPair) {
  Table t(256);
  constexpr uint32_t Threads = 4, Pairs = 64, Times = 2000;
  std::vector<std::thread> threads;
  for (uint32_t n = 0; n < Threads; ++n)
    threads.emplace_back([&, n] {
      HostMemory m;
      for (uint32_t i = 0; i < Times; ++i)
        ASSERT_TRUE(core::addRace(m, t.head(), record((i * 7 + n) % Pairs, 1)));
    });
  for (auto &thread : threads)
    thread.join();
  EXPECT_EQ(t.head()->used, Pairs);
  uint64_t total = 0;
  for (uint32_t i = 0; i < 256; ++i)
    total += t.records()[i].count;
  EXPECT_EQ(total, uint64_t(Threads) * Times);
}

} // namespace wavesan
