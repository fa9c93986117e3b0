// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "touch_map.h"

#include <algorithm>
#include <cstring>

namespace wavesan::hsa {

std::unique_ptr<TouchMap> TouchMap::make(const Api &api, const AgentInfo &agent, TierBudgets &budgets,
                                         const std::vector<Region> &regions) {
  std::unique_ptr<TouchMap> map(new TouchMap(api, budgets));
  uint64_t chunks = 0;
  for (const Region &region : regions) {
    map->Offsets.push_back(chunks);
    chunks += abi::touchChunks(region.bytes);
  }
  map->HeadBytes = sizeof(abi::TouchMap) + regions.size() * sizeof(abi::TouchRegion);
  const uint64_t blockBytes = map->HeadBytes + chunks;
  const auto take = [&](Tier tier, uint64_t bytes) {
    if (!budgets.take(tier, bytes))
      return false;
    map->Taken[size_t(tier)] += bytes;
    return true;
  };
  if (!take(Tier::Pageable, chunks) || (!take(Tier::Device, blockBytes) && !take(Tier::Pageable, blockBytes)))
    return nullptr;
  void *block = nullptr;
  if (api.amd.hsa_amd_memory_pool_allocate_fn(agent.shadow, blockBytes, 0, &block) != HSA_STATUS_SUCCESS)
    return nullptr;
  map->Block = static_cast<uint8_t *>(block);
  // Harmless where the pool is the agent's own.
  if (api.amd.hsa_amd_agents_allow_access_fn(1, &agent.agent, nullptr, block) != HSA_STATUS_SUCCESS)
    return nullptr;
  map->Bytes.resize(chunks);
  std::vector<uint8_t> image(blockBytes);
  const abi::TouchMap head{map->address() + sizeof(abi::TouchMap), uint32_t(regions.size()), 0};
  std::memcpy(image.data(), &head, sizeof(head));
  for (size_t i = 0; i < regions.size(); ++i) {
    const abi::TouchRegion region{regions[i].begin, regions[i].bytes,
                                  map->address() + map->HeadBytes + map->Offsets[i]};
    std::memcpy(image.data() + sizeof(head) + i * sizeof(region), &region, sizeof(region));
  }
  if (api.core.hsa_memory_copy_fn(block, image.data(), blockBytes) != HSA_STATUS_SUCCESS)
    return nullptr;
  return map;
}

TouchMap::~TouchMap() {
  if (Block)
    Runtime.amd.hsa_amd_memory_pool_free_fn(Block);
  for (size_t i = 0; i < kTiers; ++i)
    Budgets.give(Tier(i), Taken[i]);
}

void TouchMap::read() {
  // What counts as written for another reason stays so.
  std::vector<uint8_t> now(Bytes.size());
  if (Runtime.core.hsa_memory_copy_fn(now.data(), Block + HeadBytes, now.size()) != HSA_STATUS_SUCCESS)
    return noteEverything();
  for (size_t i = 0; i < now.size(); ++i)
    Bytes[i] |= now[i];
}

void TouchMap::noteEverything() { std::fill(Bytes.begin(), Bytes.end(), uint8_t(1)); }

} // namespace wavesan::hsa
