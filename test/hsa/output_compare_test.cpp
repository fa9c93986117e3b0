// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Snapshots, and what passes leave in memory, byte by byte.
#include "output_compare.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace wavesan::hsa {
namespace {

bool Readable = true;

hsa_status_t copyMemory(void *to, const void *from, size_t bytes) {
  if (!Readable)
    return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  std::memcpy(to, from, bytes);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t statusString(hsa_status_t, const char **text) {
  *text = "a reason";
  return HSA_STATUS_SUCCESS;
}

class OutputCompare : public ::testing::Test {
protected:
  OutputCompare() {
    Readable = true;
    Runtime.core.hsa_memory_copy_fn = copyMemory;
    Runtime.core.hsa_status_string_fn = statusString;
    for (std::vector<uint8_t> *memory : {&A, &B})
      Memory.add(MemoryMap::Kind::Allocation, memory->data(), memory->size());
  }

  void save() {
    MemoryStep step = Before.plan();
    ASSERT_EQ(Before.save(step, Error), nullptr) << Error;
    FirstIsA = A.data() < B.data();
  }
  size_t regionOf(const std::vector<uint8_t> &memory) const { return (&memory == &A) == FirstIsA ? 0 : 1; }

  /// A pass that leaves these bytes in A, and as usual in B.
  PassOutput pass(const std::vector<std::pair<size_t, uint8_t>> &writes) {
    MemoryStep step;
    EXPECT_TRUE(Before.restore(step, Error)) << Error;
    for (auto [at, value] : writes)
      A[at] = value;
    PassOutput output;
    EXPECT_TRUE(output.read(Before, 1 << 20, Error)) << Error;
    return output;
  }

  std::vector<uint8_t> A = std::vector<uint8_t>(3 * 64 * 1024 + 5, 1), B = std::vector<uint8_t>(100, 2);
  Api Runtime{};
  std::atomic<uint64_t> Latest{0};
  MemoryMap Memory{Latest};
  TierBudgets Budgets{TierBytes{0, 0, UINT64_MAX, 0}};
  Snapshot Before{Runtime, Memory, Budgets, "/nowhere"};
  bool FirstIsA = true;
  std::string Error;
};

TEST_F(OutputCompare, ReadsOnlyWhatDiffers) {
  save();
  EXPECT_TRUE(pass({}).chunks().empty());
  const PassOutput output = pass({{0, 9}, {4095, 9}, {4096, 9}, {A.size() - 1, 9}});
  ASSERT_EQ(output.chunks().size(), 3u);
  const std::vector<uint8_t> &last = output.chunks().at({regionOf(A), A.size() / PassOutput::kChunk});
  EXPECT_EQ(last.size(), A.size() % PassOutput::kChunk);
  EXPECT_EQ(last.back(), 9);
}

TEST_F(OutputCompare, TheFirstByteOnWhichTheOrdersAgreeAmongThemselves) {
  save();
  OutputGroup x(Before), y(Before);
  x.add(pass({{50, 3}, {5000, 7}}));
  y.add(pass({{50, 4}, {5000, 8}}));
  EXPECT_TRUE(OutputGroup::differ(x, y));
  EXPECT_FALSE(x.varies());
  ASSERT_TRUE(OutputGroup::firstDifference(x, y));
  EXPECT_EQ(OutputGroup::firstDifference(x, y)->region, regionOf(A));
  EXPECT_EQ(OutputGroup::firstDifference(x, y)->offset, 50u);
  x.add(pass({{50, 5}, {5000, 7}})); // byte 50 depends on something else, too
  EXPECT_TRUE(x.varies());
  ASSERT_TRUE(OutputGroup::firstDifference(x, y));
  EXPECT_EQ(OutputGroup::firstDifference(x, y)->offset, 5000u);
  y.add(pass({{50, 4}})); // and so does byte 5000: this pass left it alone
  EXPECT_FALSE(OutputGroup::firstDifference(x, y));
  EXPECT_TRUE(OutputGroup::differ(x, y));
}

TEST_F(OutputCompare, NothingDiffers) {
  save();
  OutputGroup x(Before), y(Before);
  for (int i = 0; i < 2; ++i) {
    x.add(pass({{7, 3}}));
    y.add(pass({{7, 3}}));
  }
  EXPECT_FALSE(x.varies() || y.varies() || OutputGroup::differ(x, y) || OutputGroup::firstDifference(x, y));
}

TEST_F(OutputCompare, AByteThatOneOrderWritesAndTheOtherDoesNot) {
  save();
  OutputGroup x(Before), y(Before);
  x.add(pass({{9, 3}}));
  y.add(pass({}));
  ASSERT_TRUE(OutputGroup::firstDifference(x, y));
  EXPECT_EQ(OutputGroup::firstDifference(x, y)->offset, 9u);
}

TEST_F(OutputCompare, Limits) {
  save();
  A[0] = A[100000] = 9;
  PassOutput output;
  EXPECT_FALSE(output.read(Before, PassOutput::kChunk, Error));
  EXPECT_EQ(Error, "the dispatch writes too much to compare");
  Readable = false;
  EXPECT_FALSE(output.read(Before, 1 << 20, Error));
  EXPECT_EQ(Error, "memory cannot be read (a reason)");
}

TEST_F(OutputCompare, SnapshotWithoutMemoryForIt) {
#if defined(__SANITIZE_ADDRESS__) || (defined(__has_feature) && __has_feature(address_sanitizer))
  GTEST_SKIP() << "the sanitizer's allocator ends the process";
#endif
  static uint8_t huge;
  Memory.add(MemoryMap::Kind::Allocation, &huge, uint64_t(1) << 60);
  MemoryStep step = Before.plan();
  EXPECT_GT(step.bytes, uint64_t(1) << 60);
  EXPECT_STREQ(Before.save(step, Error), kDeclineSnapshot);
  EXPECT_EQ(Error, "no host memory for " + std::to_string(uint64_t(1) << 60) + " bytes");
  EXPECT_TRUE(Before.saved().empty()); // what had been saved is given back
}

TEST_F(OutputCompare, RestoresWhatDiffersAndSaysHowMuch) {
  save();
  A[70000] = 9;
  MemoryStep step;
  ASSERT_TRUE(Before.restore(step, Error)) << Error;
  EXPECT_EQ(A[70000], 1);
  EXPECT_EQ(step.bytes, 64u * 1024);
  EXPECT_EQ(step.regions, 1u);
  Readable = false;
  EXPECT_FALSE(Before.restore(step, Error));
  EXPECT_EQ(Error, "memory cannot be read (a reason)");
}

} // namespace
} // namespace wavesan::hsa
