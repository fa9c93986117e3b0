// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory_interceptor.h"

#include "replay_loop.h"
#include "replay_service.h"
#include "tool.h"

namespace wavesan::hsa {

namespace {

using Kind = MemoryMap::Kind;

/// Runs `work`; nothing may be thrown through the runtime.
template <class Work> void guarded(Tool &tool, Work work) {
  try {
    work();
  } catch (const std::exception &e) {
    tool.findings.error(std::string("an allocation is not followed: ") + e.what());
  }
}

void remember(Tool &tool, Kind kind, const void *begin, size_t bytes, const void *handle) {
  guarded(tool, [&] {
    uint64_t number = tool.memory.add(kind, begin, bytes, handle);
    if (tool.options.verbosity >= 1)
      tool.findings.message(std::string(kind == Kind::Allocation       ? "allocation "
                                        : kind == Kind::RegisteredHost ? "registered host memory "
                                                                       : "kernel argument memory ") +
                            std::to_string(number) + ": " + std::to_string(bytes) + " bytes");
  });
}

/// Numbered apart: the language runtime allocates it when it likes, and no data of the program lie there.
Kind kindOfPool(const Api &api, hsa_amd_memory_pool_t pool) {
  uint32_t flags = 0;
  hsa_status_t status = api.amd.hsa_amd_memory_pool_get_info_fn(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  bool kernarg = status == HSA_STATUS_SUCCESS && (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT);
  return kernarg ? Kind::KernelArguments : Kind::Allocation;
}

Kind kindOfRegion(const Api &api, hsa_region_t region) {
  uint32_t flags = 0;
  bool kernarg = api.core.hsa_region_get_info_fn &&
                 api.core.hsa_region_get_info_fn(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags) == HSA_STATUS_SUCCESS &&
                 (flags & HSA_REGION_GLOBAL_FLAG_KERNARG);
  return kernarg ? Kind::KernelArguments : Kind::Allocation;
}

template <class Free> hsa_status_t freeWith(Tool &tool, void *pointer, Free free) {
  // A replay writes back what it has saved: memory must not go away meanwhile, except by a tool's own callback.
  std::vector<AgentWindow::Shared> locks;
  if (ReplayService::instance().everSubscribed() && !insideReplay())
    locks = tool.windows.shareAll();
  const Kind kinds[] = {Kind::Allocation, Kind::KernelArguments};
  for (Kind kind : kinds)
    guarded(tool, [&] { tool.memory.remove(kind, pointer); });
  hsa_status_t status = free(pointer);
  if (status != HSA_STATUS_SUCCESS)
    for (Kind kind : kinds)
      guarded(tool, [&] { tool.memory.restore(kind, pointer); });
  return status;
}

hsa_status_t poolAllocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void **pointer) {
  Tool &tool = *Tool::current();
  hsa_status_t status = tool.api.amd.hsa_amd_memory_pool_allocate_fn(pool, size, flags, pointer);
  if (status == HSA_STATUS_SUCCESS && pointer && *pointer)
    remember(tool, kindOfPool(tool.api, pool), *pointer, size, *pointer);
  return status;
}

hsa_status_t poolFree(void *pointer) {
  Tool &tool = *Tool::current();
  return freeWith(tool, pointer, tool.api.amd.hsa_amd_memory_pool_free_fn);
}

hsa_status_t memoryAllocate(hsa_region_t region, size_t size, void **pointer) {
  Tool &tool = *Tool::current();
  hsa_status_t status = tool.api.core.hsa_memory_allocate_fn(region, size, pointer);
  if (status == HSA_STATUS_SUCCESS && pointer && *pointer)
    remember(tool, kindOfRegion(tool.api, region), *pointer, size, *pointer);
  return status;
}

hsa_status_t memoryFree(void *pointer) {
  Tool &tool = *Tool::current();
  return freeWith(tool, pointer, tool.api.core.hsa_memory_free_fn);
}

/// Locked memory is unlocked by its host address; the device may see it at another one.
void rememberLocked(Tool &tool, const void *host, size_t size, void *const *device) {
  if (device && *device) {
    remember(tool, Kind::RegisteredHost, *device, size, host);
    tool.streams.aliased(host, *device, size);
  }
}

hsa_status_t memoryLock(void *host, size_t size, hsa_agent_t *agents, int count, void **device) {
  Tool &tool = *Tool::current();
  hsa_status_t status = tool.api.amd.hsa_amd_memory_lock_fn(host, size, agents, count, device);
  if (status == HSA_STATUS_SUCCESS)
    rememberLocked(tool, host, size, device);
  return status;
}

hsa_status_t memoryLockToPool(void *host, size_t size, hsa_agent_t *agents, int count, hsa_amd_memory_pool_t pool,
                              uint32_t flags, void **device) {
  Tool &tool = *Tool::current();
  hsa_status_t status = tool.api.amd.hsa_amd_memory_lock_to_pool_fn(host, size, agents, count, pool, flags, device);
  if (status == HSA_STATUS_SUCCESS)
    rememberLocked(tool, host, size, device);
  return status;
}

hsa_status_t memoryUnlock(void *host) {
  Tool &tool = *Tool::current();
  guarded(tool, [&] { tool.memory.remove(Kind::RegisteredHost, host); });
  hsa_status_t status = tool.api.amd.hsa_amd_memory_unlock_fn(host);
  if (status == HSA_STATUS_SUCCESS)
    tool.streams.aliased(host, nullptr, 0);
  else
    guarded(tool, [&] { tool.memory.restore(Kind::RegisteredHost, host); });
  return status;
}

/// Memory of other processes and of graphics interfaces, and ranges of the unified address space: the map does not follow
/// them, so that what a kernel could write is not known any more.
hsa_status_t noteUntracked(Tool &tool, hsa_status_t status) {
  if (status == HSA_STATUS_SUCCESS)
    tool.memory.sawUntracked();
  return status;
}

hsa_status_t ipcMemoryAttach(const hsa_amd_ipc_memory_t *handle, size_t size, uint32_t agents,
                             const hsa_agent_t *mapping, void **pointer) {
  Tool &tool = *Tool::current();
  return noteUntracked(tool, tool.api.amd.hsa_amd_ipc_memory_attach_fn(handle, size, agents, mapping, pointer));
}

hsa_status_t interopMapBuffer(uint32_t agents, hsa_agent_t *list, int handle, uint32_t flags, size_t *size,
                              void **pointer, size_t *metadataSize, const void **metadata) {
  Tool &tool = *Tool::current();
  return noteUntracked(tool, tool.api.amd.hsa_amd_interop_map_buffer_fn(agents, list, handle, flags, size, pointer,
                                                                        metadataSize, metadata));
}

hsa_status_t svmAttributesSet(void *pointer, size_t size, hsa_amd_svm_attribute_pair_t *list, size_t count) {
  Tool &tool = *Tool::current();
  return noteUntracked(tool, tool.api.amd.hsa_amd_svm_attributes_set_fn(pointer, size, list, count));
}

/// `visit(table, member, replacement)` for each function that the runtime has.
template <class Visit> void forEachReplacement(CoreApiTable &core, AmdExtTable &amd, Visit visit) {
  visit(core, &CoreApiTable::hsa_memory_allocate_fn, memoryAllocate);
  visit(core, &CoreApiTable::hsa_memory_free_fn, memoryFree);
  visit(amd, &AmdExtTable::hsa_amd_memory_pool_allocate_fn, poolAllocate);
  visit(amd, &AmdExtTable::hsa_amd_memory_pool_free_fn, poolFree);
  visit(amd, &AmdExtTable::hsa_amd_memory_lock_fn, memoryLock);
  visit(amd, &AmdExtTable::hsa_amd_memory_lock_to_pool_fn, memoryLockToPool);
  visit(amd, &AmdExtTable::hsa_amd_memory_unlock_fn, memoryUnlock);
  visit(amd, &AmdExtTable::hsa_amd_ipc_memory_attach_fn, ipcMemoryAttach);
  visit(amd, &AmdExtTable::hsa_amd_interop_map_buffer_fn, interopMapBuffer);
  visit(amd, &AmdExtTable::hsa_amd_svm_attributes_set_fn, svmAttributesSet);
}

const CoreApiTable &originalOf(const Api &api, const CoreApiTable &) { return api.core; }
const AmdExtTable &originalOf(const Api &api, const AmdExtTable &) { return api.amd; }

} // namespace

void installMemoryInterceptors(CoreApiTable &core, AmdExtTable &amd) {
  forEachReplacement(core, amd, [](auto &table, auto member, auto *replacement) {
    if (table.*member) // a function that the runtime lacks stays missing
      table.*member = replacement;
  });
}

void removeMemoryInterceptors(CoreApiTable &core, AmdExtTable &amd, const Api &original) {
  forEachReplacement(core, amd, [&](auto &table, auto member, auto *replacement) {
    if (table.*member == replacement)
      table.*member = originalOf(original, table).*member;
  });
}

} // namespace wavesan::hsa
