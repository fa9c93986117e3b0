// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "shadow_plan.h"

#include "wavesan/abi/dispatch.h"
#include "wavesan/abi/lds_order.h"

#include <algorithm>

namespace wavesan::hsa {

namespace {
ShadowPlan refuse(std::string why) {
  ShadowPlan plan;
  plan.problem = std::move(why);
  return plan;
}

/// At most `limit`, which is far below what could overflow.
uint64_t workgroupsOf(const ShadowRequest &r, uint64_t limit) {
  uint64_t total = 1;
  for (int d = 0; d < 3; ++d) {
    const uint64_t groups = (uint64_t(r.grid[d]) + r.workgroup[d] - 1) / r.workgroup[d];
    total = std::min<uint64_t>(total * std::max<uint64_t>(1, groups), limit);
  }
  return total;
}
} // namespace

ShadowPlan planShadow(const ShadowRequest &r) {
  ShadowPlan plan;
  uint64_t workItems = uint64_t(r.workgroup[0]) * r.workgroup[1] * r.workgroup[2];
  if (workItems == 0)
    return refuse("the workgroup is empty");
  uint64_t waves = (workItems + r.waveSize - 1) / r.waveSize;
  if (waves > abi::kMaxWavesPerWorkgroup)
    return refuse("more than " + std::to_string(abi::kMaxWavesPerWorkgroup) + " waves in a workgroup");
  plan.waves = uint32_t(waves);

  if (r.packetGroupBytes < r.originalGroupBytes)
    return refuse("the packet's group segment is smaller than the kernel's static LDS");
  plan.dynamicBytes = r.packetGroupBytes - r.originalGroupBytes;
  uint64_t lds = uint64_t(r.twinGroupBytes) + plan.dynamicBytes;
  uint64_t stateOffset = (lds + 15) / 16 * 16;
  uint64_t stateEnd = stateOffset + abi::workgroupStateBytes(plan.waves);
  if (stateEnd > r.agentLdsBytes)
    return refuse("uses " + std::to_string(lds) + " of " + std::to_string(r.agentLdsBytes) +
                  " bytes of LDS, the check needs " + std::to_string(abi::workgroupStateBytes(plan.waves)) + " of its own");
  plan.ldsBytes = uint32_t(lds);
  plan.stateOffset = uint32_t(stateOffset);

  uint64_t cells = abi::shadowBytes(plan.ldsBytes, r.granuleLog2);
  const uint64_t order = r.ordersThroughLds && cells != 0 ? abi::ldsOrderBytes(plan.waves) : 0;
  plan.cellsInLds = cells == 0 || (stateEnd + cells <= r.agentLdsBytes && !r.cooperative);
  plan.groupBytes = uint32_t(stateEnd + (plan.cellsInLds ? cells : 0));
  const uint64_t slot = (plan.cellsInLds ? 0 : cells) + order;
  if (slot == 0)
    return plan;
  if (order != 0)
    plan.ldsOrder = uint32_t(slot - order) + 1;

  // As many slots as workgroups can be resident: a workgroup waits for a free slot, so fewer would only be slower, but
  // workgroups that wait for one another must all get one. LDS is allotted per pair of compute units on some
  // targets, hence the rounding up of twice the share.
  uint64_t perUnitByWaves = std::max<uint64_t>(1, r.wavesPerComputeUnit / waves);
  uint64_t perUnitByLds = (2 * uint64_t(r.agentLdsBytes) / plan.groupBytes + 1) / 2;
  uint64_t resident =
      std::max<uint64_t>(1, r.computeUnits) * std::max<uint64_t>(1, std::min(perUnitByWaves, perUnitByLds));
  const uint64_t total = workgroupsOf(r, resident);
  if (total * slot > r.budgetBytes)
    return refuse("the shadow of its LDS needs " + std::to_string(total * slot >> 20) + " MiB, the budget is " +
                  std::to_string(r.budgetBytes >> 20) + " MiB (option shadow_budget_mb)");
  plan.slotCount = uint32_t(total);
  plan.slotBytes = uint32_t(slot);
  return plan;
}

bool allResident(const ShadowRequest &r, const ShadowPlan &plan, bool registersKnown) {
  const uint64_t units = std::max<uint64_t>(1, r.computeUnits);
  const uint64_t byWaves = r.wavesPerComputeUnit / std::max<uint64_t>(1, plan.waves),
                 byLds = plan.groupBytes ? r.agentLdsBytes / plan.groupBytes : byWaves;
  const uint64_t perUnit = std::max<uint64_t>(1, std::min(byWaves, byLds)), most = units * perUnit;
  const uint64_t total = workgroupsOf(r, most + 1);
  return total <= units || (registersKnown && total <= most);
}

} // namespace wavesan::hsa
