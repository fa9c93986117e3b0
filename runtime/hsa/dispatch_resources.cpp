// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dispatch_resources.h"

#include "global_plan.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace wavesan::hsa {

namespace {
constexpr size_t kSmallestBuffer = 4096;
/// Returned memory that is kept for reuse; what comes on top goes back to the runtime.
constexpr size_t kMaxFreeBytes = size_t(1) << 30;
constexpr uint64_t kSmallestTable = 16, kLargestTable = 1u << 20;
} // namespace

bool BufferPool::take(hsa_amd_memory_pool_t pool, hsa_agent_t agent, size_t bytes, Buffer &out, std::string &error,
                      uint64_t limit) {
  size_t sizeClass = std::bit_ceil(std::max(bytes, kSmallestBuffer));
  out = {nullptr, sizeClass, pool.handle, agent.handle};
  {
    std::lock_guard lock(Mutex);
    auto it = Free.find({pool.handle, agent.handle, sizeClass});
    if (it != Free.end() && !it->second.empty()) {
      out.address = it->second.back();
      it->second.pop_back();
      FreeBytes -= sizeClass;
      return true;
    }
    // What is kept for later gives way to what is needed now.
    uint64_t &held = Held[{pool.handle, agent.handle}];
    for (auto &[key, blocks] : Free) {
      const auto &[ofPool, ofAgent, size] = key;
      if (ofPool != pool.handle || ofAgent != agent.handle)
        continue;
      for (; !blocks.empty() && (sizeClass > limit || held > limit - sizeClass); blocks.pop_back()) {
        Runtime.amd.hsa_amd_memory_pool_free_fn(blocks.back());
        held -= size;
        FreeBytes -= size;
      }
    }
    if (sizeClass > limit || held > limit - sizeClass) {
      out = {};
      error = "the shadow of its LDS needs " + std::to_string(sizeClass >> 10) + " KiB, and " +
              std::to_string(held >> 10) + " KiB of the budget of " + std::to_string(limit >> 10) +
              " KiB are in use (option shadow_budget_mb)";
      return false;
    }
    held += sizeClass;
  }
  auto giveUp = [&] {
    std::lock_guard lock(Mutex);
    Held[{pool.handle, agent.handle}] -= sizeClass;
  };
  hsa_status_t status = Runtime.amd.hsa_amd_memory_pool_allocate_fn(pool, sizeClass, 0, &out.address);
  if (status != HSA_STATUS_SUCCESS || !out.address) {
    out = {};
    giveUp();
    error = "cannot allocate " + std::to_string(sizeClass) + " bytes (" + Runtime.statusText(status) + ")";
    return false;
  }
  // Memory of the agent's own pools needs no permission; asking for it is harmless.
  status = Runtime.amd.hsa_amd_agents_allow_access_fn(1, &agent, nullptr, out.address);
  if (status != HSA_STATUS_SUCCESS) {
    Runtime.amd.hsa_amd_memory_pool_free_fn(out.address);
    out = {};
    giveUp();
    error = "cannot make memory accessible to the agent (" + Runtime.statusText(status) + ")";
    return false;
  }
  return true;
}

void BufferPool::give(Buffer buffer) {
  if (!buffer.address)
    return;
  {
    std::lock_guard lock(Mutex);
    if (FreeBytes + buffer.bytes <= kMaxFreeBytes) {
      Free[{buffer.pool, buffer.agent, buffer.bytes}].push_back(buffer.address);
      FreeBytes += buffer.bytes;
      return;
    }
    Held[{buffer.pool, buffer.agent}] -= buffer.bytes;
  }
  Runtime.amd.hsa_amd_memory_pool_free_fn(buffer.address);
}

bool SignalPool::take(hsa_signal_t &out, std::string &error) {
  {
    std::lock_guard lock(Mutex);
    if (!Free.empty()) {
      out = Free.back();
      Free.pop_back();
    }
  }
  if (!out.handle) {
    hsa_status_t status = Runtime.core.hsa_signal_create_fn(1, 0, nullptr, &out);
    if (status != HSA_STATUS_SUCCESS || !out.handle) {
      out = {};
      error = "cannot create a signal (" + Runtime.statusText(status) + ")";
      return false;
    }
  }
  auto *signal = reinterpret_cast<amd_signal_t *>(out.handle);
  signal->start_ts = signal->end_ts = 0;
  Runtime.core.hsa_signal_store_relaxed_fn(out, 1);
  return true;
}

void SignalPool::give(hsa_signal_t signal) {
  if (!signal.handle)
    return;
  std::lock_guard lock(Mutex);
  Free.push_back(signal);
}

DispatchResources::DispatchResources(const Api &api, uint64_t maxRaces)
    : Buffers(api), Signals(api),
      Capacity(uint32_t(std::bit_ceil(std::clamp(maxRaces, kSmallestTable, kLargestTable)))) {}

bool DispatchResources::take(const AgentInfo &agent, const ShadowPlan &plan, uint32_t kernargBytes, uint64_t budget,
                             DispatchMemory &out, std::string &error) {
  out = {};
  size_t lockBytes = (size_t(plan.slotCount) * sizeof(uint32_t) + 63) / 64 * 64;
  size_t recordBytes = size_t(Capacity) * sizeof(abi::RaceRecord);
  constexpr size_t kDelays = sizeof(abi::DispatchContext) + sizeof(abi::DispatchCounters) + sizeof(abi::GlobalMemory);
  constexpr size_t kFixed = (kDelays + sizeof(abi::Delays) + 63) / 64 * 64;
  size_t headBytes = kFixed + lockBytes;
  size_t slotBytes = size_t(plan.slotCount) * plan.slotBytes;
  bool good =
      Buffers.take(agent.control, agent.agent, headBytes + sizeof(abi::RaceTable) + recordBytes, out.control, error) &&
      Buffers.take(agent.kernarg, agent.agent, kernargBytes, out.kernarg, error) &&
      (slotBytes == 0 || Buffers.take(agent.shadow, agent.agent, slotBytes, out.slots, error, budget)) &&
      Signals.take(out.signal, error) && Signals.take(out.drained, error) && Signals.take(out.passed, error);
  if (!good) {
    give(out);
    out = {};
    return false;
  }

  auto *bytes = static_cast<uint8_t *>(out.control.address);
  out.context = reinterpret_cast<abi::DispatchContext *>(bytes);
  out.counters = reinterpret_cast<abi::DispatchCounters *>(bytes + sizeof(abi::DispatchContext));
  out.delays = reinterpret_cast<abi::Delays *>(bytes + kDelays);
  uint8_t *locks = bytes + kFixed;
  out.table = reinterpret_cast<abi::RaceTable *>(bytes + headBytes);
  std::memset(bytes, 0, headBytes + sizeof(abi::RaceTable) + recordBytes);

  out.table->capacity = Capacity;
  abi::DispatchContext &context = *out.context;
  context.magic = abi::kContextMagic;
  context.abiVersion = abi::kAbiVersion;
  context.raceTable = reinterpret_cast<uint64_t>(out.table);
  context.counters = reinterpret_cast<uint64_t>(out.counters);
  if (plan.slotCount != 0) {
    context.slotPool = reinterpret_cast<uint64_t>(out.slots.address);
    context.slotLocks = reinterpret_cast<uint64_t>(locks);
    context.slotCount = plan.slotCount;
    context.slotBytes = plan.slotBytes;
    context.ldsOrder = plan.ldsOrder;
  }
  context.ldsStateOffset = plan.stateOffset;
  context.ldsBytes = plan.ldsBytes;
  context.wavesPerWorkgroup = plan.waves;
  return true;
}

void DispatchResources::addGlobal(const AgentInfo &agent, uint64_t queue, uint64_t programBytes, uint64_t budget,
                                  const abi::ShadowWindow *window, DispatchMemory &memory) {
  abi::DispatchContext &context = *memory.context;
  std::optional<GlobalShape> shape = globalShape(context);
  if (!shape)
    return;
  if (window)
    shape->window = *window;
  uint64_t bytes = std::bit_floor(std::min(globalBytesWanted(*shape, programBytes), budget / 2));
  std::lock_guard lock(Mutex);
  if (Stamp == abi::kMaxStamp) // what earlier dispatches left behind could be taken for this one's
    return;
  GlobalBlock &block = Global[queue];
  // A larger one replaces it; dispatches that wait hold theirs.
  for (; bytes >= kLeastGlobalBytes && (!block || block->bytes < bytes); bytes /= 2) {
    Buffer fresh;
    std::string ignored;
    if (Buffers.take(agent.shadow, agent.agent, bytes, fresh, ignored, budget)) {
      block = GlobalBlock(new Buffer(fresh), [this](const Buffer *old) {
        Buffers.give(*old);
        delete old;
      });
      break;
    }
  }
  if (!block || !layOut(*shape, block->bytes, reinterpret_cast<uint64_t>(block->address), Stamp + 1,
                        *reinterpret_cast<abi::GlobalMemory *>(memory.counters + 1)))
    return;
  ++Stamp;
  memory.global = block;
  context.globalMemory = reinterpret_cast<uint64_t>(memory.counters + 1);
  memory.counters->checkedSpaces = abi::kChecksLds | abi::kChecksGlobal;
}

void DispatchResources::forgetQueue(uint64_t queue) {
  std::lock_guard lock(Mutex);
  Global.erase(queue);
}

void DispatchResources::give(const DispatchMemory &memory) {
  Buffers.give(memory.control);
  Buffers.give(memory.kernarg);
  Buffers.give(memory.slots);
  Signals.give(memory.signal);
  Signals.give(memory.drained);
  Signals.give(memory.passed);
}

} // namespace wavesan::hsa
