// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "access_history.h"

#include <gtest/gtest.h>

namespace wavesan::streams {

namespace {

struct Part {
  int number;
};
using History = AccessHistory<Part>;

struct HistoryTest : testing::Test {
  History history{size_t(1) << 20};
  std::vector<std::tuple<int, uint64_t, uint64_t>> conflicts;

  void put(int number, uint64_t begin, uint64_t end, uint8_t bits, std::vector<int> follows = {}) {
    History::Access a;
    a.part = std::make_shared<const Part>(Part{number});
    a.bits = bits;
    a.scope = abi::Scope::Agent;
    conflicts.clear();
    history.insert(
        begin, end, a,
        [&](const Part &p) { return std::find(follows.begin(), follows.end(), p.number) != follows.end(); },
        [](const Part &) { return false; },
        [&](const History::Access &old, uint64_t from, uint64_t to) {
          conflicts.emplace_back(old.part->number, from, to);
        });
  }
};

constexpr uint8_t kRead = abi::kAccessRead, kWrite = abi::kAccessWrite,
                  kAtomic = abi::kAccessWrite | abi::kAccessAtomic;

} // namespace

TEST_F(HistoryTest, HalvesThatDoNotOverlapAreClean) {
  put(1, 0, 64, kWrite);
  put(2, 64, 128, kWrite);
  EXPECT_TRUE(conflicts.empty());
  put(3, 63, 65, kRead);
  ASSERT_EQ(conflicts.size(), 2u);
  EXPECT_EQ(conflicts[0], std::make_tuple(1, 63u, 64u));
  EXPECT_EQ(conflicts[1], std::make_tuple(2, 64u, 65u));
}

TEST_F(HistoryTest, ReadsDoNotConflictAndAtomicsDoWithPlainAccesses) {
  put(1, 0, 8, kRead);
  put(2, 0, 8, kRead);
  EXPECT_TRUE(conflicts.empty());
  put(3, 4, 8, kAtomic);
  EXPECT_EQ(conflicts.size(), 2u);
  put(4, 4, 8, kAtomic);
  EXPECT_EQ(conflicts.size(), 2u); // the reads, not the atomic
}

TEST_F(HistoryTest, ALaterAccessCoversOnlyWhatItFollows) {
  put(1, 0, 16, kWrite);
  put(2, 0, 16, kWrite, {1});
  put(3, 0, 16, kRead);
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(std::get<0>(conflicts[0]), 2);
}

TEST_F(HistoryTest, AReadDoesNotHideAnEarlierWrite) {
  put(1, 0, 16, kWrite);
  put(2, 0, 16, kRead, {1});
  put(3, 0, 16, kRead);
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(std::get<0>(conflicts[0]), 1);
}

TEST_F(HistoryTest, NewMemoryHasNoPast) {
  put(1, 0, 100, kWrite);
  history.clear(20, 40);
  put(2, 10, 50, kRead);
  ASSERT_EQ(conflicts.size(), 2u);
  EXPECT_EQ(conflicts[0], std::make_tuple(1, 10u, 20u));
  EXPECT_EQ(conflicts[1], std::make_tuple(1, 40u, 50u));
}

TEST_F(HistoryTest, SegmentsJoinAgain) {
  for (uint64_t i = 0; i < 100; ++i)
    put(1, 4 * i, 4 * i + 4, kWrite);
  // One part's pieces are different shared pointers here; those of one insertion join.
  put(2, 0, 400, kWrite, {1});
  EXPECT_EQ(history.segmentCount(), 1u);
  history.retire([](const Part &) { return true; });
  EXPECT_EQ(history.segmentCount(), 0u);
  EXPECT_EQ(history.usedBytes(), 0u);
}

TEST(History, MemoryIsBoundedAndLossesAreCounted) {
  History history(4096);
  auto none = [](const Part &) { return false; };
  History::Access a;
  a.part = std::make_shared<const Part>(Part{1});
  a.bits = kWrite;
  for (uint64_t i = 0; i < 1000; ++i)
    history.insert(16 * i, 16 * i + 4, a, none, none, [](auto &&...) {});
  EXPECT_LE(history.usedBytes(), 4096u);
  EXPECT_GT(history.lost(), 900u);
  EXPECT_EQ(history.lost() + history.segmentCount(), 1000u);
}

} // namespace wavesan::streams
