// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts about a GPU agent and the memory pools that the tool allocates from.
#ifndef WAVESAN_HSA_AGENT_INFO_H
#define WAVESAN_HSA_AGENT_INFO_H

#include "api.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace wavesan::hsa {

struct AgentInfo {
  hsa_agent_t agent{};
  uint32_t ldsBytes = 64 * 1024; ///< largest group segment of a workgroup
  uint32_t computeUnits = 1;
  uint32_t wavesPerComputeUnit = 1;
  hsa_amd_memory_pool_t control{}; ///< host memory, fine-grained: written by the device, read by the host
  hsa_amd_memory_pool_t kernarg{}; ///< host memory for kernarg blocks
  hsa_amd_memory_pool_t shadow{};  ///< memory near the device, not read by the host; the control pool if there is none
  uint64_t freeBytes = 0; ///< of the shadow pool, when the agent was looked up: at its first checked dispatch
};

/// Looks an agent up once. Thread-safe.
class AgentTable {
public:
  /// `allocatedBytes`: what the program has allocated so far, for runtimes that do not say what is free.
  AgentTable(const Api &api, std::function<uint64_t()> allocatedBytes)
      : Runtime(api), AllocatedBytes(std::move(allocatedBytes)) {}
  /// Null and one line in `error` when a needed pool is missing.
  std::shared_ptr<const AgentInfo> find(hsa_agent_t agent, std::string &error);

private:
  std::optional<AgentInfo> query(hsa_agent_t agent, std::string &error) const;
  uint64_t freeBytesOf(const AgentInfo &info) const;
  const Api &Runtime;
  const std::function<uint64_t()> AllocatedBytes;
  std::mutex Mutex;
  std::map<uint64_t, std::shared_ptr<const AgentInfo>> Agents;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_AGENT_INFO_H
