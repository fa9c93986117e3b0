// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent_info.h"

#include <algorithm>
#include <vector>

namespace wavesan::hsa {

namespace {

std::vector<hsa_amd_memory_pool_t> poolsOf(const Api &api, hsa_agent_t agent) {
  std::vector<hsa_amd_memory_pool_t> pools;
  api.amd.hsa_amd_agent_iterate_memory_pools_fn(
      agent,
      [](hsa_amd_memory_pool_t pool, void *data) {
        static_cast<std::vector<hsa_amd_memory_pool_t> *>(data)->push_back(pool);
        return HSA_STATUS_SUCCESS;
      },
      &pools);
  return pools;
}

template <class T> bool poolInfo(const Api &api, hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t what, T &out) {
  return api.amd.hsa_amd_memory_pool_get_info_fn(pool, what, &out) == HSA_STATUS_SUCCESS;
}

/// Global pools that allow allocations, with their flags; other pools give nothing.
std::optional<uint32_t> globalFlags(const Api &api, hsa_amd_memory_pool_t pool) {
  hsa_amd_segment_t segment{};
  uint32_t flags = 0;
  bool allowed = false;
  if (!poolInfo(api, pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, segment) || segment != HSA_AMD_SEGMENT_GLOBAL ||
      !poolInfo(api, pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, flags) ||
      !poolInfo(api, pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, allowed) || !allowed)
    return std::nullopt;
  return flags;
}

std::vector<hsa_agent_t> agentsOfType(const Api &api, hsa_device_type_t type) {
  std::vector<hsa_agent_t> all, matching;
  api.core.hsa_iterate_agents_fn(
      [](hsa_agent_t agent, void *data) {
        static_cast<std::vector<hsa_agent_t> *>(data)->push_back(agent);
        return HSA_STATUS_SUCCESS;
      },
      &all);
  for (hsa_agent_t agent : all) {
    hsa_device_type_t found{};
    if (api.core.hsa_agent_get_info_fn(agent, HSA_AGENT_INFO_DEVICE, &found) == HSA_STATUS_SUCCESS && found == type)
      matching.push_back(agent);
  }
  return matching;
}

} // namespace

uint64_t AgentTable::freeBytesOf(const AgentInfo &info) const {
  constexpr uint32_t kMemoryAvailable = 0xA015; // HSA_AMD_AGENT_INFO_MEMORY_AVAIL of newer headers
  uint64_t available = 0;
  if (Runtime.core.hsa_agent_get_info_fn(info.agent, hsa_agent_info_t(kMemoryAvailable), &available) ==
          HSA_STATUS_SUCCESS &&
      available != 0)
    return available;
  size_t size = 0;
  if (!poolInfo(Runtime, info.shadow, HSA_AMD_MEMORY_POOL_INFO_SIZE, size))
    return 0;
  const uint64_t allocated = AllocatedBytes();
  return size > allocated ? size - allocated : 0;
}

std::optional<AgentInfo> AgentTable::query(hsa_agent_t agent, std::string &error) const {
  AgentInfo info;
  info.agent = agent;
  auto attribute = [&](uint32_t what, uint32_t &out) {
    uint32_t value = 0;
    if (Runtime.core.hsa_agent_get_info_fn(agent, hsa_agent_info_t(what), &value) == HSA_STATUS_SUCCESS && value != 0)
      out = value;
  };
  attribute(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, info.computeUnits);
  attribute(HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, info.wavesPerComputeUnit);

  // System memory belongs to the CPU agents. A pool that is fine-grained and not the kernarg pool is preferred for
  // control blocks, but where there is only one the kernarg pool is fine-grained too.
  for (hsa_agent_t cpu : agentsOfType(Runtime, HSA_DEVICE_TYPE_CPU)) {
    for (hsa_amd_memory_pool_t pool : poolsOf(Runtime, cpu)) {
      uint32_t flags = globalFlags(Runtime, pool).value_or(0);
      bool kernarg = flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT;
      bool fine = flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
      if (kernarg && !info.kernarg.handle)
        info.kernarg = pool;
      if (fine && !kernarg && !info.control.handle)
        info.control = pool;
    }
  }
  if (!info.control.handle)
    info.control = info.kernarg;
  if (!info.kernarg.handle)
    info.kernarg = info.control;
  for (hsa_amd_memory_pool_t pool : poolsOf(Runtime, agent)) {
    hsa_amd_segment_t segment{};
    size_t size = 0;
    if (poolInfo(Runtime, pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, segment) && segment == HSA_AMD_SEGMENT_GROUP) {
      if (poolInfo(Runtime, pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, size) && size != 0)
        info.ldsBytes = uint32_t(std::min<size_t>(size, 1u << 20));
      continue;
    }
    if (globalFlags(Runtime, pool).value_or(0) & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED && !info.shadow.handle)
      info.shadow = pool;
  }
  if (!info.control.handle) {
    error = "no fine-grained host memory pool";
    return std::nullopt;
  }
  if (!info.shadow.handle)
    info.shadow = info.control;
  info.freeBytes = freeBytesOf(info);
  return info;
}

std::shared_ptr<const AgentInfo> AgentTable::find(hsa_agent_t agent, std::string &error) {
  std::lock_guard lock(Mutex);
  auto it = Agents.find(agent.handle);
  if (it != Agents.end())
    return it->second;
  std::optional<AgentInfo> info = query(agent, error);
  if (!info)
    return nullptr;
  return Agents[agent.handle] = std::make_shared<const AgentInfo>(*info);
}

} // namespace wavesan::hsa
