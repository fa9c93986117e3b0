// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "global_plan.h"

#include <bit>
#include <gtest/gtest.h>

namespace wavesan::hsa {

namespace {
abi::DispatchContext dispatch(uint32_t groups, uint32_t waves) {
  abi::DispatchContext c{};
  c.wavesPerWorkgroup = waves;
  for (int d = 0; d < 3; ++d)
    c.workgroupSize[d] = c.gridSize[d] = 1;
  c.workgroupSize[0] = waves * 64;
  c.gridSize[0] = groups * waves * 64;
  return c;
}
uint64_t endOf(const abi::GlobalMemory &m) {
  return m.order + m.variableCount * sizeof(abi::GlobalVariable) + uint64_t(m.lockCount) * 4 +
         uint64_t(m.rowEntries) * sizeof(abi::GlobalWave) + uint64_t(m.rowCount) * m.rowEntries * 4;
}
} // namespace

TEST(GlobalPlan, NumbersOfWaves) {
  const auto shape = globalShape(dispatch(100, 3));
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->waveBits, 2u);
  EXPECT_EQ(shape->waves, 400u);
  EXPECT_EQ(shape->generationBits, 24u);
  EXPECT_EQ(globalShape(dispatch(1, 1))->waves, 1u);
}

TEST(GlobalPlan, ManyWorkgroupsLeaveFewerGenerations) {
  abi::DispatchContext c = dispatch(1 << 20, 4);
  EXPECT_EQ(globalShape(c)->generationBits, 12u);
  c.gridSize[1] = 1 << 4;
  EXPECT_EQ(globalShape(c)->generationBits, 8u);
  c.gridSize[1] = 1 << 5;
  EXPECT_FALSE(globalShape(c));
  c.gridSize[1] = c.gridSize[2] = 0xffffffffu;
  EXPECT_FALSE(globalShape(c));
}

TEST(GlobalPlan, EverythingLiesInTheBlock) {
  for (const uint32_t groups : {1u, 10u, 1000u, 100000u})
    for (uint64_t bytes = kLeastGlobalBytes; bytes <= uint64_t(1) << 32; bytes *= 4) {
      abi::GlobalMemory m;
      const auto shape = globalShape(dispatch(groups, 4));
      if (!layOut(*shape, bytes, 4096, 7, m))
        continue;
      EXPECT_EQ(m.stamp, 7u);
      EXPECT_GT(m.pageCount, 0u);
      EXPECT_GE(m.pages, m.keys + m.pageCount * 8);
      EXPECT_GE(m.order, m.pages + uint64_t(m.pageCount) * abi::kGlobalPageBytes);
      EXPECT_LE(endOf(m), 4096 + bytes) << groups << " workgroups, " << bytes << " bytes";
      EXPECT_GE(m.lockCount, m.rowCount);
    }
}

TEST(GlobalPlan, WhatHasAStampDoesNotMove) {
  abi::GlobalMemory few, many;
  ASSERT_TRUE(layOut(*globalShape(dispatch(1, 1)), 1 << 24, 0, 1, few));
  ASSERT_TRUE(layOut(*globalShape(dispatch(1000, 4)), 1 << 24, 0, 2, many));
  EXPECT_EQ(few.pageCount, many.pageCount);
  EXPECT_EQ(few.order, many.order);
  EXPECT_EQ(few.variableCount, many.variableCount);
  EXPECT_EQ(few.lockCount, many.lockCount);
}

TEST(GlobalPlan, TwiceTheMemoryOfTheProgram) {
  const auto shape = globalShape(dispatch(16, 4));
  const uint64_t wanted = globalBytesWanted(*shape, 1 << 20);
  EXPECT_TRUE(std::has_single_bit(wanted));
  abi::GlobalMemory m;
  ASSERT_TRUE(layOut(*shape, wanted, 0, 1, m));
  EXPECT_GE(m.pageCount, 2u * (1 << 20 >> abi::kGlobalPageLog2));
  EXPECT_GE(m.rowCount, 2 * shape->waves);
}

TEST(GlobalPlan, TooLittleMemory) {
  abi::GlobalMemory m;
  EXPECT_FALSE(layOut(*globalShape(dispatch(1 << 20, 4)), kLeastGlobalBytes, 0, 1, m));
}

} // namespace wavesan::hsa
