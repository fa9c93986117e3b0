// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "global_plan.h"

#include "wavesan/abi/workgroup_number.h"

#include <algorithm>
#include <bit>

namespace wavesan::hsa {

namespace {
constexpr uint64_t kPageCost = sizeof(uint64_t) + abi::kGlobalPageBytes;
/// Memory of the program that no map knows, as device-side malloc's.
constexpr uint64_t kUnknownBytes = 1 << 19;
constexpr uint64_t kMostVariables = 1 << 14, kMostLocks = 1 << 17, kMostRowBytes = uint64_t(256) << 20;

/// What lies at the same place in every dispatch of a block of so many bytes.
struct FixedPlan {
  uint64_t pages, variables, locks, orderBytes;
};
FixedPlan planFixed(uint64_t bytes) {
  FixedPlan plan{};
  plan.orderBytes = bytes / 4;
  plan.pages = std::min<uint64_t>((bytes - plan.orderBytes) / kPageCost, UINT32_MAX);
  plan.variables = std::min(kMostVariables, plan.orderBytes / 4 / sizeof(abi::GlobalVariable));
  plan.locks = std::min(kMostLocks, plan.orderBytes / 16 / sizeof(uint32_t));
  return plan;
}
constexpr uint64_t rowBytes(const GlobalShape &shape) { return uint64_t(shape.waves) * sizeof(uint32_t); }
/// Two for each wave, and one for each variable of a program with few: tickets, locks, a flag for each workgroup.
constexpr uint64_t rowsWanted(const GlobalShape &shape) {
  return std::min(2 * uint64_t(shape.waves) + 1024, std::max<uint64_t>(kMostRowBytes / rowBytes(shape), 16));
}
} // namespace

std::optional<GlobalShape> globalShape(const abi::DispatchContext &context) {
  uint64_t groups = 1;
  for (int d = 0; d < 3; ++d) {
    groups *= std::max(abi::workgroupsAlong(context.gridSize[d], std::max(context.workgroupSize[d], 1u)), 1u);
    if (groups > UINT32_MAX)
      return std::nullopt;
  }
  GlobalShape shape;
  shape.waveBits = uint32_t(std::bit_width(std::max(context.wavesPerWorkgroup, 1u) - 1));
  const uint64_t waves = groups << shape.waveBits;
  const uint32_t numberBits = uint32_t(std::bit_width(waves - 1));
  if (numberBits + abi::kLeastGenerationBits > abi::kGlobalWhoBits)
    return std::nullopt;
  shape.waves = uint32_t(waves);
  shape.generationBits = std::min(abi::kMostGenerationBits, abi::kGlobalWhoBits - numberBits);
  return shape;
}

uint64_t globalBytesWanted(const GlobalShape &shape, uint64_t programBytes) {
  // Half of the hash table stays free.
  const uint64_t pages = 2 * ((programBytes + kUnknownBytes) >> abi::kGlobalPageLog2) * kPageCost;
  const uint64_t order = uint64_t(shape.waves) * sizeof(abi::GlobalWave) + rowsWanted(shape) * rowBytes(shape);
  return std::bit_ceil(std::max(pages * 4 / 3, order * 4) + (uint64_t(1) << 22));
}

bool layOut(const GlobalShape &shape, uint64_t bytes, uint64_t address, uint32_t stamp, abi::GlobalMemory &out) {
  const FixedPlan fixed = planFixed(bytes);
  const uint64_t taken = fixed.variables * sizeof(abi::GlobalVariable) + fixed.locks * sizeof(uint32_t) +
                         uint64_t(shape.waves) * sizeof(abi::GlobalWave);
  if (fixed.pages == 0 || fixed.variables == 0 || taken > fixed.orderBytes)
    return false;
  out = {};
  out.keys = address;
  out.pages = out.keys + fixed.pages * sizeof(uint64_t);
  out.order = out.pages + fixed.pages * abi::kGlobalPageBytes;
  out.pageCount = uint32_t(fixed.pages);
  out.stamp = stamp;
  out.waveBits = shape.waveBits;
  out.generationBits = shape.generationBits;
  out.rowCount = uint32_t(std::min({rowsWanted(shape), fixed.locks, (fixed.orderBytes - taken) / rowBytes(shape)}));
  out.rowEntries = shape.waves;
  out.firstUnit = uint32_t(shape.window.begin >> abi::kGlobalUnitLog2);
  out.lastUnit = uint32_t((std::min(shape.window.end, uint64_t(1) << abi::kAddressBits) - 1) >> abi::kGlobalUnitLog2);
  out.variableCount = uint32_t(fixed.variables);
  out.lockCount = uint32_t(fixed.locks);
  return true;
}

} // namespace wavesan::hsa
