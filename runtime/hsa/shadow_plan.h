// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides where the shadow of a dispatch lies: pure arithmetic on sizes.
//
// LDS of a checked workgroup:  [twin's static LDS][dynamic LDS][pad to 16][WorkgroupState][cells, if they fit]
// Cells that do not fit, and what orders waves through LDS (abi/lds_order.h), go into a pool of slots in global memory,
// one slot per workgroup that can be resident.
#ifndef WAVESAN_HSA_SHADOW_PLAN_H
#define WAVESAN_HSA_SHADOW_PLAN_H

#include <cstdint>
#include <string>

namespace wavesan::hsa {

struct ShadowRequest {
  uint32_t originalGroupBytes = 0; ///< static LDS of the original kernel
  uint32_t twinGroupBytes = 0;     ///< static LDS of the twin
  uint32_t packetGroupBytes = 0;   ///< group_segment_size of the program's packet: static and dynamic
  uint32_t granuleLog2 = 0;
  uint32_t waveSize = 64;
  uint32_t grid[3] = {1, 1, 1}; ///< work-items
  uint32_t workgroup[3] = {1, 1, 1};
  uint32_t agentLdsBytes = 0; ///< largest group segment
  uint32_t computeUnits = 1, wavesPerComputeUnit = 1;
  /// All workgroups must be resident at once (grid synchronisation): take as little LDS as possible, because a larger
  /// group segment means fewer resident workgroups.
  bool cooperative = false;
  bool ordersThroughLds = false;     ///< needs an abi::LdsOrder for each workgroup
  uint64_t budgetBytes = UINT64_MAX; ///< of the shadow in global memory
};

struct ShadowPlan {
  std::string problem;     ///< why the dispatch cannot be checked; empty when it can
  uint32_t groupBytes = 0; ///< group_segment_size for the twin's packet
  uint32_t dynamicBytes = 0;
  uint32_t stateOffset = 0; ///< DispatchContext::ldsStateOffset
  uint32_t ldsBytes = 0;    ///< DispatchContext::ldsBytes
  uint32_t waves = 0;       ///< per workgroup
  uint32_t slotCount = 0;   ///< 0: cells in LDS, and nothing else
  uint32_t slotBytes = 0;
  bool cellsInLds = false;
  uint32_t ldsOrder = 0; ///< DispatchContext::ldsOrder
};

ShadowPlan planShadow(const ShadowRequest &request);

/// Whether all workgroups of the dispatch can be resident at once with this plan, which has no problem. Where the twin
/// may take more registers than the original (`registersKnown` is false) that is sure only of one workgroup for each
/// compute unit.
bool allResident(const ShadowRequest &request, const ShadowPlan &plan, bool registersKnown);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_SHADOW_PLAN_H
