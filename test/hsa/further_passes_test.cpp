// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How memory is divided for passes of which each can record only so much.
#include "further_passes.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace wavesan::hsa {
namespace {

constexpr uint64_t kUnit = abi::kShadowWindowUnit;
using Kind = MemoryMap::Kind;
using Window = abi::ShadowWindow;

std::vector<MemoryMap::LiveRange> rangesOf(std::initializer_list<std::pair<uint64_t, uint64_t>> list) {
  std::vector<MemoryMap::LiveRange> ranges;
  for (auto [begin, bytes] : list)
    ranges.push_back({Kind::Allocation, begin, bytes, ranges.size() + 1});
  return ranges;
}

/// Runs passes that can record `capacity` bytes of what `touched` holds.
struct Device {
  std::vector<MemoryMap::LiveRange> touched;
  uint64_t capacity;
  std::vector<Window> whole = {}, tried = {};

  uint64_t in(const Window &w) const {
    uint64_t bytes = 0;
    for (const auto &r : touched)
      bytes += std::max(std::min(r.begin + r.bytes, w.end), w.begin) - std::max(std::min(r.begin, w.end), w.begin);
    return bytes;
  }
  PartResult pass(const Window &w) {
    tried.push_back(w);
    if (in(w) > capacity)
      return PartResult::Partly;
    whole.push_back(w);
    return PartResult::Whole;
  }
  /// Every touched byte lies in one window that was recorded whole, and in no other.
  bool covered() const {
    uint64_t sum = 0, all = 0;
    for (const Window &w : whole)
      sum += in(w);
    for (const auto &r : touched)
      all += r.bytes;
    std::vector<Window> sorted = whole;
    std::sort(sorted.begin(), sorted.end(), [](const Window &a, const Window &b) { return a.begin < b.begin; });
    for (size_t i = 1; i < sorted.size(); ++i)
      if (sorted[i].begin < sorted[i - 1].end)
        return false;
    return sum == all;
  }
};

TEST(FurtherPasses, AllMemoryIsCoveredOnce) {
  for (uint64_t capacity : {3 * kUnit, 5 * kUnit, 64 * kUnit}) {
    const auto ranges = rangesOf({{kUnit + 100, 40 * kUnit}, {1000 * kUnit, 7}, {2000 * kUnit - 3, 90 * kUnit + 6}});
    Device device{ranges, capacity};
    bool rest = true;
    const uint64_t passes = passOverParts(ranges, 1000, [&](const Window &w) { return device.pass(w); }, rest);
    EXPECT_FALSE(rest);
    EXPECT_TRUE(device.covered()) << capacity;
    EXPECT_EQ(passes, device.tried.size());
    EXPECT_LE(passes, 2 * (2 * 131 * kUnit / capacity + 8)) << capacity;
    for (const Window &w : device.tried) {
      EXPECT_EQ(w.begin % kUnit, 0u);
      EXPECT_EQ(w.end % kUnit, 0u);
    }
  }
}

TEST(FurtherPasses, WhatIsNotTouchedCostsLittle) {
  const auto ranges = rangesOf({{0, 1000 * kUnit}, {2000 * kUnit, 1000 * kUnit}, {4000 * kUnit, 1000 * kUnit}});
  Device device{rangesOf({{2100 * kUnit, 4 * kUnit}}), 2 * kUnit};
  bool rest = true;
  EXPECT_LE(passOverParts(ranges, 1000, [&](const Window &w) { return device.pass(w); }, rest), 32u);
  EXPECT_FALSE(rest);
  EXPECT_TRUE(device.covered());
}

TEST(FurtherPasses, TheMostPassesAreKept) {
  const auto ranges = rangesOf({{0, 100 * kUnit}});
  Device device{ranges, kUnit};
  bool rest = false;
  EXPECT_EQ(passOverParts(ranges, 9, [&](const Window &w) { return device.pass(w); }, rest), 9u);
  EXPECT_TRUE(rest);
  EXPECT_EQ(device.tried.size(), 9u);
}

TEST(FurtherPasses, WhatCannotBeDividedStaysUncheckedAndTheOthersDoNot) {
  // Nothing fits that touches the first unit.
  const auto ranges = rangesOf({{kUnit, 16 * kUnit}});
  std::vector<Window> whole;
  bool rest = false;
  passOverParts(
      ranges, 1000,
      [&](const Window &w) {
        if (w.begin <= kUnit && w.end > kUnit)
          return PartResult::Partly;
        whole.push_back(w);
        return PartResult::Whole;
      },
      rest);
  EXPECT_TRUE(rest);
  ASSERT_FALSE(whole.empty());
  EXPECT_EQ(std::min_element(whole.begin(), whole.end(), [](auto &a, auto &b) { return a.begin < b.begin; })->begin,
            2 * kUnit);
}

TEST(FurtherPasses, AFailedPassIsTheLast) {
  const auto ranges = rangesOf({{0, 100 * kUnit}});
  bool rest = false;
  EXPECT_EQ(passOverParts(ranges, 1000, [](const Window &) { return PartResult::Failed; }, rest), 1u);
  EXPECT_TRUE(rest);
}

TEST(FurtherPasses, OneUnitCannotBeDivided) {
  bool rest = false;
  EXPECT_EQ(passOverParts(rangesOf({{5, 100}}), 1000, [](const Window &) { return PartResult::Partly; }, rest), 1u);
  EXPECT_TRUE(rest);
}

} // namespace
} // namespace wavesan::hsa
