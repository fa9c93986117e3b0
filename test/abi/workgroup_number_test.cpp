// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/abi/workgroup_number.h"

#include <gtest/gtest.h>

namespace wavesan::abi {
namespace {

TEST(WorkgroupNumber, PartialWorkgroupsCount) {
  EXPECT_EQ(workgroupsAlong(0, 64), 0u);
  EXPECT_EQ(workgroupsAlong(1, 64), 1u);
  EXPECT_EQ(workgroupsAlong(64, 64), 1u);
  EXPECT_EQ(workgroupsAlong(65, 64), 2u);
  EXPECT_EQ(workgroupsAlong(UINT32_MAX, 1024), 1u << 22);
  EXPECT_EQ(workgroupsAlong(UINT32_MAX, 1), UINT32_MAX);
}

TEST(WorkgroupNumber, XComesFirst) {
  const uint32_t grid[3] = {130, 7, 9}, size[3] = {64, 2, 4}; // 3 x 4 x 3
  uint32_t number = 0;
  for (uint32_t z = 0; z < 3; ++z)
    for (uint32_t y = 0; y < 4; ++y)
      for (uint32_t x = 0; x < 3; ++x) {
        uint32_t id[3];
        workgroupOf(number++, grid, size, id);
        EXPECT_TRUE(id[0] == x && id[1] == y && id[2] == z) << number;
      }
}

TEST(WorkgroupNumber, DamagedSizesDoNoHarm) {
  const uint32_t empty[3] = {}, size[3] = {};
  uint32_t id[3] = {9, 9, 9};
  workgroupOf(77, empty, size, id);
  EXPECT_TRUE(id[0] == 0 && id[1] == 0 && id[2] == 0);
}

} // namespace
} // namespace wavesan::abi
