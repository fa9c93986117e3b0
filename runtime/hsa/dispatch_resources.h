// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory and signals of checked dispatches: allocated through the HSA runtime, initialised, reused.
#ifndef WAVESAN_HSA_DISPATCH_RESOURCES_H
#define WAVESAN_HSA_DISPATCH_RESOURCES_H

#include "agent_info.h"
#include "api.h"
#include "shadow_plan.h"

#include "wavesan/abi/delays.h"
#include "wavesan/abi/dispatch.h"
#include "wavesan/abi/replay.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace wavesan::hsa {

/// A block of device-accessible memory. Plain handle; BufferPool owns the memory.
struct Buffer {
  void *address = nullptr;
  size_t bytes = 0; ///< size class, not the size asked for
  uint64_t pool = 0, agent = 0;
};

/// Hands out blocks in power-of-two sizes and keeps returned ones. Thread-safe. Its memory is not freed when
/// the process ends: the runtime may be gone by then.
class BufferPool {
public:
  explicit BufferPool(const Api &api) : Runtime(api) {}
  /// At least `bytes` bytes that the agent and the host can access (the host only if the pool is host memory). On
  /// failure returns false and one line in `error`. `limit`: of what this pool may hold for this agent, blocks that have
  /// been given back included.
  bool take(hsa_amd_memory_pool_t pool, hsa_agent_t agent, size_t bytes, Buffer &out, std::string &error,
            uint64_t limit = UINT64_MAX);
  void give(Buffer buffer);

private:
  const Api &Runtime;
  std::mutex Mutex;
  std::map<std::tuple<uint64_t, uint64_t, size_t>, std::vector<void *>> Free; ///< (pool, agent, size class)
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> Held; ///< (pool, agent) -> bytes allocated
  size_t FreeBytes = 0;
};

/// Completion signals of the tool. Thread-safe.
class SignalPool {
public:
  explicit SignalPool(const Api &api) : Runtime(api) {}
  /// A signal of value 1 without time stamps.
  bool take(hsa_signal_t &out, std::string &error);
  void give(hsa_signal_t signal);

private:
  const Api &Runtime;
  std::mutex Mutex;
  std::vector<hsa_signal_t> Free;
};

/// A block for checking global memory (abi/global_memory.h), of one queue: its checked dispatches follow one another.
using GlobalBlock = std::shared_ptr<const Buffer>;

/// What one checked dispatch holds until it has been drained.
struct DispatchMemory {
  Buffer control; ///< DispatchContext, DispatchCounters, GlobalMemory, Delays, slot locks, RaceTable and its records
  Buffer kernarg;
  Buffer slots; ///< address null: cells in LDS
  GlobalBlock global; ///< null: global memory is not checked
  abi::DispatchContext *context = nullptr;
  abi::DispatchCounters *counters = nullptr;
  abi::Delays *delays = nullptr; ///< the context does not name them
  abi::RaceTable *table = nullptr;
  hsa_signal_t signal{};
  /// The queue goes on behind the dispatch when `drained` is 0; it has done so when `passed` is 0.
  hsa_signal_t drained{}, passed{};

  abi::RaceRecord *records() const { return reinterpret_cast<abi::RaceRecord *>(table + 1); }
};

/// Thread-safe.
class DispatchResources {
public:
  /// `maxRaces`: the option; rounded up to a power of two and limited.
  DispatchResources(const Api &api, uint64_t maxRaces);

  /// Everything but the contents of the kernarg block; counters, race table and locks are zero. The context lacks
  /// nothing but dispatchId, sizes of grid and workgroup. On failure nothing is held and `error` has one line.
  /// `budget`: bytes that all shadows of this agent together may take of the device's memory.
  bool take(const AgentInfo &agent, const ShadowPlan &plan, uint32_t kernargBytes, uint64_t budget, DispatchMemory &out,
            std::string &error);
  /// Gives a dispatch of this queue memory for checking global memory, no more than half of `budget`, of which `window`
  /// is recorded (null: all). Without any, or with too many workgroups, its counters say that global memory is not
  /// checked. The context's sizes of grid and workgroup are set.
  void addGlobal(const AgentInfo &agent, uint64_t queue, uint64_t programBytes, uint64_t budget,
                 const abi::ShadowWindow *window, DispatchMemory &memory);
  /// The queue has been destroyed.
  void forgetQueue(uint64_t queue);
  /// For a dispatch that has completed.
  void give(const DispatchMemory &memory);

  uint32_t tableCapacity() const { return Capacity; }

private:
  BufferPool Buffers;
  SignalPool Signals;
  uint32_t Capacity;
  std::mutex Mutex;
  std::map<uint64_t, GlobalBlock> Global; ///< by queue
  uint32_t Stamp = 0;                     ///< of the latest dispatch whose global memory is checked
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_DISPATCH_RESOURCES_H
