// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernarg_layout.h"

#include "wavesan/abi/hooks.h"

#include <algorithm>
#include <cstring>

namespace wavesan::hsa {

namespace {

std::vector<const KernelArg *> selectArgs(const KernelMetadata &kernel, bool hidden) {
  std::vector<const KernelArg *> args;
  for (const KernelArg &arg : kernel.args)
    if (arg.hidden() == hidden)
      args.push_back(&arg);
  return args;
}

/// Hidden arguments that may be zero in the twin when the original has none. The twin executes the original's body plus
/// hooks, and hooks use none of these; so an argument that the original was found not to use stays unused.
bool mayBeZero(const std::string &kind) {
  static constexpr const char *kKinds[] = {
      "hidden_none",          "hidden_global_offset_x",    "hidden_global_offset_y", "hidden_global_offset_z",
      "hidden_printf_buffer", "hidden_hostcall_buffer",    "hidden_default_queue",   "hidden_completion_action",
      "hidden_heap_v1",       "hidden_multigrid_sync_arg", "hidden_queue_ptr",
  };
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

} // namespace

bool KernargPlan::computable(const KernelArg &arg, Compute &out) {
  struct Entry {
    const char *prefix;
    Value value;
    bool perDimension;
  };
  static constexpr Entry kEntries[] = {
      {"hidden_block_count_", Value::BlockCount, true},      {"hidden_group_size_", Value::GroupSize, true},
      {"hidden_remainder_", Value::Remainder, true},         {"hidden_grid_dims", Value::GridDims, false},
      {"hidden_dynamic_lds_size", Value::DynamicLds, false},
  };
  for (const Entry &e : kEntries) {
    size_t length = std::strlen(e.prefix);
    if (arg.kind.compare(0, length, e.prefix) != 0 || arg.kind.size() != length + (e.perDimension ? 1 : 0))
      continue;
    uint8_t dimension = 0;
    if (e.perDimension) {
      char letter = arg.kind.back();
      if (letter < 'x' || letter > 'z')
        return false;
      dimension = uint8_t(letter - 'x');
    }
    out = {e.value, dimension, arg.offset, arg.size};
    return arg.size == 2 || arg.size == 4 || arg.size == 8;
  }
  return false;
}

std::optional<KernargPlan> KernargPlan::make(const KernelMetadata &original, const KernelMetadata &twin,
                                             std::string &error) {
  auto fail = [&](const std::string &why) -> std::optional<KernargPlan> {
    error = "kernel arguments of " + twin.name + ": " + why;
    return std::nullopt;
  };
  KernargPlan plan;
  plan.Bytes = twin.kernargBytes;

  std::vector<const KernelArg *> from = selectArgs(original, false), to = selectArgs(twin, false);
  if (to.size() != from.size() + 1)
    return fail("the twin has " + std::to_string(to.size()) + " explicit arguments, the original " +
                std::to_string(from.size()));
  // Argument names are optional in metadata; where they are given the last one must be ours.
  const KernelArg &context = *to.back();
  if (context.size != 8 || (!context.name.empty() && context.name != abi::kContextArgName))
    return fail("the last explicit argument is not " + std::string(abi::kContextArgName));
  plan.ContextOffset = context.offset;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i]->offset != to[i]->offset || from[i]->size != to[i]->size)
      return fail("argument " + std::to_string(i) + " differs from the original's");
    plan.Copies.push_back({from[i]->offset, to[i]->offset, from[i]->size});
  }

  std::vector<const KernelArg *> hiddenFrom = selectArgs(original, true);
  for (const KernelArg *arg : selectArgs(twin, true)) {
    auto match = std::find_if(hiddenFrom.begin(), hiddenFrom.end(),
                              [&](const KernelArg *candidate) { return candidate->kind == arg->kind; });
    Compute compute;
    if (match != hiddenFrom.end() && (*match)->size == arg->size)
      plan.Copies.push_back({(*match)->offset, arg->offset, arg->size});
    else if (match != hiddenFrom.end())
      return fail(arg->kind + " differs in size from the original's");
    else if (computable(*arg, compute))
      plan.Computes.push_back(compute);
    else if (!mayBeZero(arg->kind))
      return fail("needs " + arg->kind + ", which the original does not receive");
  }
  for (const Copy &copy : plan.Copies)
    plan.SourceBytes = std::max(plan.SourceBytes, copy.from + copy.size);
  return plan;
}

void KernargPlan::fill(const uint8_t *source, uint8_t *destination, uint64_t contextAddress,
                       const DispatchShape &shape) const {
  std::memset(destination, 0, Bytes);
  for (const Copy &copy : Copies)
    std::memcpy(destination + copy.to, source + copy.from, copy.size);
  for (const Compute &compute : Computes) {
    uint64_t value = 0;
    uint32_t grid = shape.grid[compute.dimension], group = std::max(1u, shape.workgroup[compute.dimension]);
    switch (compute.value) {
    case Value::BlockCount:
      value = grid / group; // whole workgroups, as the runtimes define it
      break;
    case Value::GroupSize:
      value = group;
      break;
    case Value::Remainder:
      value = grid % group;
      break;
    case Value::GridDims:
      value = shape.dimensions;
      break;
    case Value::DynamicLds:
      value = shape.dynamicLdsBytes;
      break;
    }
    std::memcpy(destination + compute.to, &value, compute.size); // little endian
  }
  std::memcpy(destination + ContextOffset, &contextAddress, sizeof(contextAddress));
}

} // namespace wavesan::hsa
