// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "shadow_plan.h"

#include "wavesan/abi/dispatch.h"
#include "wavesan/abi/lds_order.h"

#include <gtest/gtest.h>

namespace wavesan::hsa {

namespace {

constexpr uint32_t kState = abi::workgroupStateBytes(4); // of 256 work-items in waves of 64

ShadowRequest request(uint32_t lds, uint32_t granuleLog2 = 2) {
  ShadowRequest r;
  r.originalGroupBytes = r.twinGroupBytes = r.packetGroupBytes = lds;
  r.granuleLog2 = granuleLog2;
  r.grid[0] = 1 << 20;
  r.workgroup[0] = 256;
  r.agentLdsBytes = 65536;
  r.computeUnits = 100;
  r.wavesPerComputeUnit = 32;
  return r;
}

} // namespace

TEST(ShadowPlan, SmallLdsHasItsCellsBehindIt) {
  ShadowPlan plan = planShadow(request(516));
  EXPECT_EQ(plan.problem, "");
  EXPECT_EQ(plan.stateOffset, 528u);
  EXPECT_EQ(plan.ldsBytes, 516u);
  EXPECT_EQ(plan.waves, 4u);
  EXPECT_EQ(plan.slotCount, 0u);
  EXPECT_EQ(plan.groupBytes, 528 + kState + 129 * abi::kCellBytes);
}

TEST(ShadowPlan, DynamicLdsIsWhatThePacketAsksForOnTop) {
  ShadowRequest r = request(512);
  r.packetGroupBytes = 512 + 1024;
  r.twinGroupBytes = 640;
  ShadowPlan plan = planShadow(r);
  EXPECT_EQ(plan.dynamicBytes, 1024u);
  EXPECT_EQ(plan.ldsBytes, 640u + 1024u);
  EXPECT_EQ(plan.stateOffset, 1664u);
}

TEST(ShadowPlan, KernelWithoutLds) {
  ShadowPlan plan = planShadow(request(0));
  EXPECT_EQ(plan.problem, "");
  EXPECT_EQ(plan.groupBytes, kState);
  EXPECT_EQ(plan.slotCount, 0u);
}

TEST(ShadowPlan, LargestThatFitsInLdsAndTheNextOne) {
  // 16-byte steps of LDS: state at lds, cells 8 * lds at granule 4.
  uint32_t lds = (65536 - kState) / 9 / 16 * 16;
  ShadowPlan in = planShadow(request(lds)), out = planShadow(request(lds + 16));
  EXPECT_EQ(in.slotCount, 0u);
  EXPECT_LE(in.groupBytes, 65536u);
  EXPECT_NE(out.slotCount, 0u);
  EXPECT_EQ(out.groupBytes, lds + 16 + kState);
  EXPECT_EQ(out.slotBytes, abi::shadowBytes(lds + 16, 2));
}

TEST(ShadowPlan, SlotsForEveryWorkgroupThatCanBeResident) {
  ShadowPlan plan = planShadow(request(16384));
  // 4 waves each: 8 by waves; LDS 16384 + state: 3.9 of 64 KiB, rounded up to 4.
  EXPECT_EQ(plan.slotCount, 400u);
  ShadowRequest few = request(16384);
  few.grid[0] = 256 * 7 - 1; // a partial workgroup counts
  EXPECT_EQ(planShadow(few).slotCount, 7u);
  ShadowRequest big = request(16384);
  big.workgroup[0] = 1024; // 16 waves
  EXPECT_EQ(planShadow(big).slotCount, 200u);
  ShadowRequest huge = request(16384);
  huge.grid[0] = huge.grid[1] = huge.grid[2] = 0xffffffffu;
  EXPECT_EQ(planShadow(huge).slotCount, 400u);
}

TEST(ShadowPlan, WhatOrdersWavesThroughLdsLiesInTheSlots) {
  ShadowRequest small = request(516), large = request(16384), none = request(0);
  small.ordersThroughLds = large.ordersThroughLds = none.ordersThroughLds = true;
  ShadowPlan plan = planShadow(small);
  EXPECT_TRUE(plan.cellsInLds);
  EXPECT_EQ(plan.groupBytes, planShadow(request(516)).groupBytes);
  EXPECT_EQ(plan.slotBytes, abi::ldsOrderBytes(4));
  EXPECT_EQ(plan.ldsOrder, 1u);
  EXPECT_GT(plan.slotCount, 0u);
  plan = planShadow(large);
  EXPECT_FALSE(plan.cellsInLds);
  EXPECT_EQ(plan.groupBytes, planShadow(request(16384)).groupBytes);
  EXPECT_EQ(plan.slotBytes, abi::shadowBytes(16384, 2) + abi::ldsOrderBytes(4));
  EXPECT_EQ(plan.ldsOrder, abi::shadowBytes(16384, 2) + 1);
  EXPECT_EQ(planShadow(none).slotCount, 0u) << "no LDS, no flags in it";
  EXPECT_EQ(planShadow(request(516)).ldsOrder, 0u);
  large.budgetBytes = uint64_t(plan.slotBytes) * plan.slotCount - 1;
  EXPECT_NE(planShadow(large).problem, "");
}

TEST(ShadowPlan, CooperativeDispatchesKeepTheirOccupancy) {
  ShadowRequest r = request(1024);
  EXPECT_EQ(planShadow(r).slotCount, 0u);
  r.cooperative = true;
  ShadowPlan plan = planShadow(r);
  EXPECT_EQ(plan.groupBytes, 1024 + kState);
  EXPECT_EQ(plan.slotCount, 800u);
}

TEST(ShadowPlan, WorkgroupsThatMustAllBeResident) {
  const auto resident = [](uint32_t lds, uint32_t groups, bool registersKnown = true) {
    ShadowRequest r = request(lds);
    r.grid[0] = groups * r.workgroup[0];
    r.cooperative = true;
    const ShadowPlan plan = planShadow(r);
    EXPECT_EQ(plan.problem, "");
    return allResident(r, plan, registersKnown);
  };
  EXPECT_TRUE(resident(0, 800)); // eight workgroups of four waves on each of 100 units
  EXPECT_FALSE(resident(0, 801));
  EXPECT_TRUE(resident(32768 - kState, 200));
  EXPECT_FALSE(resident(32768 - kState, 201));
  EXPECT_TRUE(resident(32768, 100)); // two without the check, one with it
  EXPECT_FALSE(resident(32768, 101));
  EXPECT_TRUE(resident(0, 100, false));
  EXPECT_FALSE(resident(0, 101, false));
}

TEST(ShadowPlan, FullLdsCannotBeChecked) {
  EXPECT_EQ(planShadow(request(65536 - kState)).problem, "");
  EXPECT_EQ(planShadow(request(65536)).problem,
            "uses 65536 of 65536 bytes of LDS, the check needs " + std::to_string(kState) + " of its own");
  EXPECT_NE(planShadow(request(65536 - kState + 1)).problem, "");
}

TEST(ShadowPlan, ImpossiblePackets) {
  ShadowRequest r = request(512);
  r.workgroup[0] = 0;
  EXPECT_EQ(planShadow(r).problem, "the workgroup is empty");
  r = request(512);
  r.workgroup[0] = 2049;
  EXPECT_EQ(planShadow(r).problem, "more than 32 waves in a workgroup");
  r = request(512);
  r.packetGroupBytes = 511;
  EXPECT_NE(planShadow(r).problem, "");
  r = request(512);
  r.packetGroupBytes = 0xffffffffu; // must not wrap around
  EXPECT_NE(planShadow(r).problem, "");
}

TEST(ShadowPlan, ABudgetBoundsTheShadow) {
  ShadowRequest r = request(60000, 0);
  r.computeUnits = 4000;
  r.workgroup[0] = 64;
  EXPECT_EQ(planShadow(r).problem, "");
  r.budgetBytes = 7680000000 - 1;
  EXPECT_EQ(planShadow(r).problem,
            "the shadow of its LDS needs 7324 MiB, the budget is 7324 MiB (option shadow_budget_mb)");
  r.budgetBytes = 7680000000;
  EXPECT_EQ(planShadow(r).problem, "");
}

} // namespace wavesan::hsa
