// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "store_set.h"

#include <gtest/gtest.h>

#include <cstring>

namespace wavesan::hsa {
namespace {

using Kind = MemoryMap::Kind;

struct StoreSetTest : testing::Test {
  std::vector<MemoryMap::LiveRange> live = {
      {Kind::Allocation, 0x100000, 0x10000, 1},           {Kind::Allocation, 0x110000, 0x1000, 2}, // directly behind it
      {Kind::RegisteredHost, 0x900000, 0x1000, 1},        {Kind::DeviceVariable, 0xa00000, 64, 0, "counter"},
      {Kind::DeviceVariable, 0xb00000, 64, 0, "counter"}, // of another executable
      {Kind::DeviceVariable, 0xc00000, 64, 0, "other"}};
  uint64_t arguments[4] = {0x104000, 0x900010, 0, 0x5000000};

  /// First bytes of the ranges; "?": not known.
  std::string written(const std::vector<KernelStore> &stores, uint64_t bytes = sizeof arguments) {
    const auto ranges = writableRanges(live, stores, reinterpret_cast<const uint8_t *>(arguments), bytes);
    if (!ranges)
      return "?";
    std::string text;
    for (const MemoryMap::LiveRange &range : *ranges) {
      char number[32];
      std::snprintf(number, sizeof number, "%llx ", static_cast<unsigned long long>(range.begin));
      text += number;
    }
    return text;
  }
};

} // namespace

TEST_F(StoreSetTest, PointersNameTheirAllocations) {
  EXPECT_EQ(written({{0u, {}}}), "100000 ");
  EXPECT_EQ(written({{8u, {}}, {0u, {}}}), "100000 900000 ");
  EXPECT_EQ(written({}), "");
}

TEST_F(StoreSetTest, ANullPointerIsNotWrittenThrough) {
  EXPECT_EQ(written({{16u, {}}}), "");
  EXPECT_EQ(written({{16u, {}}, {0u, {}}}), "100000 ");
}

TEST_F(StoreSetTest, APointerThatPointsNowhereMakesItUnknown) {
  EXPECT_EQ(written({{0u, {}}, {24u, {}}}), "?");
  EXPECT_EQ(written({{28u, {}}}), "?"); // beyond the block
  EXPECT_EQ(written({{0u, {}}}, 4), "?");
}

TEST_F(StoreSetTest, APointerNearABorderMayBeUsedForBothSides) {
  arguments[0] = 0x110000; // the end of the first one, or the begin of the second
  EXPECT_EQ(written({{0u, {}}}), "100000 110000 ");
  arguments[0] = 0x110000 - 4;
  EXPECT_EQ(written({{0u, {}}}), "100000 110000 ");
  arguments[0] = 0x111000; // the end of the second
  EXPECT_EQ(written({{0u, {}}}), "110000 ");
  arguments[0] = 0x100000 - 4; // indices from 1
  EXPECT_EQ(written({{0u, {}}}), "100000 ");
}

TEST_F(StoreSetTest, StrayPointers) {
  const auto stray = [&](const std::vector<KernelStore> &stores, uint64_t bytes = 32) {
    return strayPointers(live, stores, reinterpret_cast<const uint8_t *>(arguments), bytes);
  };
  EXPECT_EQ(stray({{0u, {}}, {8u, {}}, {16u, {}}, {std::nullopt, "unlisted"}}), std::vector<uint64_t>{});
  EXPECT_EQ(stray({{0u, {}}, {24u, {}}}), std::vector<uint64_t>{0x5000000});
  EXPECT_EQ(stray({{24u, {}}}, 24), std::vector<uint64_t>{}); // beyond the block
}

TEST_F(StoreSetTest, VariablesGoByTheirNames) {
  EXPECT_EQ(written({{std::nullopt, "counter"}}), "a00000 b00000 ");
  EXPECT_EQ(written({{std::nullopt, "unlisted"}}), "?");
  EXPECT_EQ(written({{std::nullopt, ""}}), "?"); // allocations have no names
}

} // namespace wavesan::hsa
