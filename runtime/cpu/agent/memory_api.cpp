// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HSA memory functions: pools, regions, pointers, locks and copies.
#include "agents.h"
#include "api_table.h"
#include "copies.h"
#include "host_lock.h"
#include "memory.h"
#include "process.h"
#include "query_value.h"

#include "../order/write_notes.h"

#include <algorithm>
#include <cstring>

namespace wavesan::agent::impl {
namespace {

/// Regions of the older interface are the pools.
const PoolInfo *findRegion(hsa_region_t region) { return findPool({region.handle}); }

bool isGpuPool(const PoolInfo &p) { return isGpu(p.agent); }

hsa_status_t checkCopy(const void *dst, const void *src, uint32_t dependencyCount, const hsa_signal_t *dependencies) {
  if (!dst || !src || (dependencyCount == 0) != (dependencies == nullptr))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return HSA_STATUS_SUCCESS;
}

/// Addresses as the program names them.
void copyNow(void *dst, const void *src, size_t size) {
  cpu::WriteNotes().note(dst, size);
  std::memmove(hostView(dst), hostView(src), size);
}

} // namespace

hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t agent,
                                                hsa_status_t (*callback)(hsa_amd_memory_pool_t, void *), void *data) {
  if (!isAgent(agent))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!callback)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const PoolInfo &p : allPools())
    if (p.agent.handle == agent.handle)
      if (hsa_status_t status = callback({uint64_t(p.pool)}, data); status != HSA_STATUS_SUCCESS)
        return status;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t handle, hsa_amd_memory_pool_info_t attribute,
                                          void *value) {
  const PoolInfo *p = findPool(handle);
  if (!p)
    return hsa_status_t(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  if (!value)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const bool global = p->segment == HSA_AMD_SEGMENT_GLOBAL;
  switch (attribute) {
  case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
    return put(value, p->segment);
  case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
    return put(value, p->globalFlags);
  case HSA_AMD_MEMORY_POOL_INFO_SIZE:
  case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
    return put(value, size_t(poolCapacity(*p)));
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
    return put(value, global);
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
    return put(value, global ? kAllocationGranule : size_t(0));
  case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
    return put(value, global && !isGpuPool(*p));
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent, hsa_amd_memory_pool_t handle,
                                                hsa_amd_agent_memory_pool_info_t attribute, void *value) {
  if (!isAgent(agent))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  const PoolInfo *p = findPool(handle);
  if (!p)
    return hsa_status_t(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  if (!value)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const bool local = p->agent.handle == agent.handle;
  switch (attribute) {
  case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
    if (p->segment != HSA_AMD_SEGMENT_GLOBAL)
      return put(value, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
    return put(value, local ? HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT
                            : HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
  case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS:
    return put(value, uint32_t(local ? 0 : 1));
  case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO: {
    hsa_amd_memory_pool_link_info_t link{};
    if (local)
      return HSA_STATUS_SUCCESS; // no hop, nothing to describe
    link.min_latency = link.max_latency = 1;
    link.min_bandwidth = link.max_bandwidth = 16000;
    link.atomic_support_32bit = link.atomic_support_64bit = link.coherent_support = true;
    link.link_type = HSA_AMD_LINK_INFO_TYPE_PCIE;
    link.numa_distance = 20;
    return put(value, link);
  }
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t handle, size_t size, uint32_t, void **out) {
  if (!isInitialized())
    return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const PoolInfo *p = findPool(handle);
  return p ? allocations().allocate(*p, size, out) : hsa_status_t(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
}

hsa_status_t hsa_amd_memory_pool_free(void *pointer) {
  return pointer ? allocations().free(pointer) : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agents_allow_access(uint32_t count, const hsa_agent_t *agents, const uint32_t *flags,
                                         const void *pointer) {
  if (count == 0 || !agents || flags || !pointer)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < count; ++i)
    if (!isAgent(agents[i]))
      return HSA_STATUS_ERROR_INVALID_AGENT;
  return allocations().find(pointer) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_memory_pool_can_migrate(hsa_amd_memory_pool_t from, hsa_amd_memory_pool_t to, bool *result) {
  if (!findPool(from) || !findPool(to))
    return hsa_status_t(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  if (!result)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = false;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_lock_to_pool(void *host, size_t size, hsa_agent_t *agents, int count,
                                         hsa_amd_memory_pool_t handle, uint32_t, void **out) {
  const PoolInfo *p = findPool(handle);
  if (!p)
    return hsa_status_t(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  if (isGpuPool(*p))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if ((agents == nullptr) != (count == 0))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (int i = 0; i < count; ++i)
    if (!isAgent(agents[i]))
      return HSA_STATUS_ERROR_INVALID_AGENT;
  return lockHostMemory(host, size, p->globalFlags, out);
}

hsa_status_t hsa_amd_memory_lock(void *host, size_t size, hsa_agent_t *agents, int count, void **out) {
  return impl::hsa_amd_memory_lock_to_pool(host, size, agents, count, {uint64_t(Pool::HostFine)}, 0, out);
}

hsa_status_t hsa_amd_memory_unlock(void *host) { return unlockHostMemory(host); }

hsa_status_t hsa_amd_pointer_info(const void *pointer, hsa_amd_pointer_info_t *info, void *(*allocate)(size_t),
                                  uint32_t *agentCount, hsa_agent_t **agents) {
  if (!pointer || !info || info->size < sizeof(info->size))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_amd_pointer_info_t result{};
  result.size = std::min<uint32_t>(info->size, sizeof(result));
  result.type = HSA_EXT_POINTER_TYPE_UNKNOWN;
  const bool known = allocations().with(pointer, [&](Allocation &a) {
    result.type = a.type;
    result.agentBaseAddress = a.base;
    result.hostBaseAddress = a.hostBase;
    result.sizeInBytes = a.size;
    result.userData = a.userData;
    result.agentOwner = a.agent;
    result.global_flags = a.globalFlags;
  });
  std::memcpy(info, &result, result.size);
  if (!allocate || !agentCount || !agents)
    return HSA_STATUS_SUCCESS;
  *agentCount = 0;
  *agents = nullptr;
  if (!known)
    return HSA_STATUS_SUCCESS;
  auto *list = static_cast<hsa_agent_t *>(allocate(2 * sizeof(hsa_agent_t)));
  if (!list)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  list[0] = kGpuAgent;
  list[1] = kCpuAgent;
  *agentCount = 2;
  *agents = list;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info_set_userdata(const void *pointer, void *data) {
  return allocations().with(pointer, [&](Allocation &a) { a.userData = data; }) ? HSA_STATUS_SUCCESS
                                                                                : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_register_deallocation_callback(void *pointer, hsa_amd_deallocation_callback_t callback,
                                                    void *data) {
  if (!pointer || !callback)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const bool found = allocations().with(pointer, [&](Allocation &a) { a.callbacks.emplace_back(callback, data); });
  return found ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_deregister_deallocation_callback(void *pointer, hsa_amd_deallocation_callback_t callback) {
  bool removed = false;
  allocations().with(pointer, [&](Allocation &a) {
    removed = std::erase_if(a.callbacks, [&](auto &entry) { return entry.first == callback; }) != 0;
  });
  return removed ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_memory_copy(void *dst, const void *src, size_t size) {
  if (size == 0)
    return HSA_STATUS_SUCCESS;
  if (!dst || !src)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  copyNow(dst, src, size);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_fill(void *pointer, uint32_t value, size_t count) {
  if (!pointer || reinterpret_cast<uintptr_t>(pointer) % sizeof(value) != 0)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  cpu::WriteNotes().note(pointer, count * sizeof(value));
  std::fill_n(static_cast<uint32_t *>(hostView(pointer)), count, value);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_async_copy(void *dst, hsa_agent_t dstAgent, const void *src, hsa_agent_t srcAgent,
                                       size_t size, uint32_t dependencyCount, const hsa_signal_t *dependencies,
                                       hsa_signal_t completion) {
  if (!isAgent(dstAgent) || !isAgent(srcAgent))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (hsa_status_t status = checkCopy(dst, src, dependencyCount, dependencies); status != HSA_STATUS_SUCCESS)
    return status;
  submitCopy([=] { copyNow(dst, src, size); }, dependencyCount, dependencies, completion);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dstOffset,
                                            const hsa_pitched_ptr_t *src, const hsa_dim3_t *srcOffset,
                                            const hsa_dim3_t *range, hsa_agent_t copyAgent, hsa_amd_copy_direction_t,
                                            uint32_t dependencyCount, const hsa_signal_t *dependencies,
                                            hsa_signal_t completion) {
  if (!isAgent(copyAgent))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!dst || !src || !dstOffset || !srcOffset || !range)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (hsa_status_t status = checkCopy(dst->base, src->base, dependencyCount, dependencies);
      status != HSA_STATUS_SUCCESS)
    return status;
  submitCopy(
      [d = *dst, s = *src, to = *dstOffset, from = *srcOffset, size = *range] {
        for (uint32_t z = 0; z < size.z; ++z)
          for (uint32_t y = 0; y < size.y; ++y)
            copyNow(static_cast<char *>(d.base) + to.x + (size_t(to.y) + y) * d.pitch + (size_t(to.z) + z) * d.slice,
                    static_cast<char *>(s.base) + from.x + (size_t(from.y) + y) * s.pitch +
                        (size_t(from.z) + z) * s.slice,
                    size.x);
      },
      dependencyCount, dependencies, completion);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_iterate_regions(hsa_agent_t agent, hsa_status_t (*callback)(hsa_region_t, void *), void *data) {
  if (!isAgent(agent))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!callback)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const PoolInfo &p : allPools())
    if (p.agent.handle == agent.handle)
      if (hsa_status_t status = callback({uint64_t(p.pool)}, data); status != HSA_STATUS_SUCCESS)
        return status;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_region_get_info(hsa_region_t region, hsa_region_info_t attribute, void *value) {
  const PoolInfo *p = findRegion(region);
  if (!p)
    return HSA_STATUS_ERROR_INVALID_REGION;
  if (!value)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const bool global = p->segment == HSA_AMD_SEGMENT_GLOBAL;
  switch (uint32_t(attribute)) {
  case HSA_REGION_INFO_SEGMENT:
    return put(value, global ? HSA_REGION_SEGMENT_GLOBAL : HSA_REGION_SEGMENT_GROUP);
  case HSA_REGION_INFO_GLOBAL_FLAGS: // the same bits as those of pools
    return put(value, p->globalFlags);
  case HSA_REGION_INFO_SIZE:
  case HSA_REGION_INFO_ALLOC_MAX_SIZE:
    return put(value, size_t(poolCapacity(*p)));
  case HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE:
    return put(value, uint32_t(0));
  case HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED:
    return put(value, global);
  case HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE:
  case HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT:
    return put(value, global ? kAllocationGranule : size_t(0));
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t hsa_memory_allocate(hsa_region_t region, size_t size, void **out) {
  if (!isInitialized())
    return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const PoolInfo *p = findRegion(region);
  return p ? allocations().allocate(*p, size, out) : HSA_STATUS_ERROR_INVALID_REGION;
}

hsa_status_t hsa_memory_free(void *pointer) { return impl::hsa_amd_memory_pool_free(pointer); }

hsa_status_t hsa_memory_assign_agent(void *pointer, hsa_agent_t agent, hsa_access_permission_t) {
  if (!isAgent(agent))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  return pointer ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

// Registration is a hint for agents of the full profile.
hsa_status_t hsa_memory_register(void *pointer, size_t size) {
  return pointer || size == 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
hsa_status_t hsa_memory_deregister(void *, size_t) { return HSA_STATUS_SUCCESS; }

hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, hsa_amd_coherency_type_t type) {
  if (!isAgent(agent))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  return type == HSA_AMD_COHERENCY_TYPE_COHERENT || type == HSA_AMD_COHERENCY_TYPE_NONCOHERENT
             ? HSA_STATUS_SUCCESS
             : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

} // namespace wavesan::agent::impl
