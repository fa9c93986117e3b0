// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory.h"

#include "agents.h"
#include "process.h"

#include "../order/write_notes.h"

#include <algorithm>
#include <bit>

#include <sys/mman.h>
#include <unistd.h>

namespace wavesan::agent {

namespace {

/// AMD's kernel driver interface aligns an allocation like the greatest power of two that fits into it, up to a huge
/// page. Nothing promises it, but device malloc of ROCm's device library finds its 2 MiB slabs by it.
constexpr size_t kMaxAlignment = size_t(2) << 20;

/// Null: there is no memory.
void *mapAligned(size_t bytes, size_t alignment) {
  const size_t more = alignment - kAllocationGranule; // mappings begin at pages
  void *mapped = mmap(nullptr, bytes + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(mapped);
  const uintptr_t aligned = (begin + alignment - 1) / alignment * alignment;
  if (const size_t before = aligned - begin)
    munmap(mapped, before);
  if (const size_t after = begin + more - aligned)
    munmap(reinterpret_cast<void *>(aligned + bytes), after);
  return reinterpret_cast<void *>(aligned);
}

} // namespace

const std::vector<PoolInfo> &allPools() {
  static const auto &pools = *new std::vector<PoolInfo>{
      {Pool::HostFine, kCpuAgent, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED},
      {Pool::HostKernarg, kCpuAgent, HSA_AMD_SEGMENT_GLOBAL,
       HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT},
      {Pool::HostCoarse, kCpuAgent, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED},
      {Pool::GpuCoarse, kGpuAgent, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED},
      {Pool::GpuFine, kGpuAgent, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED},
      {Pool::GpuGroup, kGpuAgent, HSA_AMD_SEGMENT_GROUP, 0},
  };
  return pools;
}

const PoolInfo *findPool(hsa_amd_memory_pool_t pool) {
  for (const PoolInfo &p : allPools())
    if (uint64_t(p.pool) == pool.handle)
      return &p;
  return nullptr;
}

uint64_t poolCapacity(const PoolInfo &pool) {
  if (pool.segment == HSA_AMD_SEGMENT_GROUP)
    return kGroupSegmentBytes;
  if (isGpu(pool.agent))
    return gpuMemoryCapacity();
  return uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
}

hsa_status_t AllocationTable::allocate(const PoolInfo &pool, size_t size, void **out) {
  if (pool.segment != HSA_AMD_SEGMENT_GLOBAL)
    return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (size == 0 || !out)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const uint64_t capacity = poolCapacity(pool);
  if (size > capacity)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  const size_t bytes = (size + kAllocationGranule - 1) / kAllocationGranule * kAllocationGranule;
  const bool gpu = isGpu(pool.agent);
  std::lock_guard lock(Mutex);
  if (gpu && GpuBytes + bytes > capacity)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  // An inaccessible page behind the allocation turns running off its end into a fault instead of into a neighbour's
  // changed data. Linux limits the number of mappings, so not with very many allocations.
  constexpr size_t maxGuarded = 8192;
  const size_t guard = ByBase.size() < maxGuarded ? kAllocationGranule : 0;
  void *base = mapAligned(bytes + guard, std::min(std::bit_floor(bytes), kMaxAlignment));
  if (!base)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  if (guard)
    mprotect(static_cast<char *>(base) + bytes, guard, PROT_NONE);
  if (gpu)
    GpuBytes += bytes;
  Allocation a{.base = base,
               .size = bytes,
               .hostBase = base,
               .agent = pool.agent,
               .globalFlags = pool.globalFlags,
               .type = HSA_EXT_POINTER_TYPE_HSA,
               .callbacks = {}};
  a.mappedBytes = bytes + guard;
  a.countsAsGpu = gpu;
  ByBase.emplace(reinterpret_cast<uintptr_t>(base), std::move(a));
  *out = base;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t AllocationTable::free(void *base) {
  std::vector<std::pair<hsa_amd_deallocation_callback_t, void *>> callbacks;
  {
    std::lock_guard lock(Mutex);
    auto it = ByBase.find(reinterpret_cast<uintptr_t>(base));
    if (it == ByBase.end() || it->second.mappedBytes == 0)
      return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    callbacks.swap(it->second.callbacks);
  }
  for (auto &[callback, data] : callbacks)
    callback(base, data);
  std::optional<Allocation> a = remove(base);
  if (!a)
    return HSA_STATUS_ERROR_INVALID_ALLOCATION; // freed by two threads at once
  cpu::WriteNotes::forget(reinterpret_cast<uint64_t>(a->base), a->size);
  munmap(a->base, a->mappedBytes);
  return HSA_STATUS_SUCCESS;
}

void AllocationTable::add(const Allocation &allocation) {
  std::lock_guard lock(Mutex);
  const auto base = reinterpret_cast<uintptr_t>(allocation.base);
  ByBase.insert_or_assign(base, allocation);
  if (allocation.hostBase != allocation.base)
    ByHostBase.emplace(reinterpret_cast<uintptr_t>(allocation.hostBase), base);
}

std::optional<Allocation> AllocationTable::remove(void *base) {
  std::lock_guard lock(Mutex);
  auto it = ByBase.find(reinterpret_cast<uintptr_t>(base));
  if (it == ByBase.end())
    return std::nullopt;
  Allocation a = std::move(it->second);
  if (a.countsAsGpu)
    GpuBytes -= a.size;
  auto [first, last] = ByHostBase.equal_range(reinterpret_cast<uintptr_t>(a.hostBase));
  for (auto host = first; host != last; ++host)
    if (host->second == it->first) {
      ByHostBase.erase(host);
      break;
    }
  ByBase.erase(it);
  return a;
}

Allocation *AllocationTable::findLocked(const void *address) {
  const auto key = reinterpret_cast<uintptr_t>(address);
  auto it = ByBase.upper_bound(key);
  if (it != ByBase.begin() && key - (--it)->first < it->second.size)
    return &it->second;
  // Locked ranges may overlap; the one with the nearest host base wins, the newest among equal ones.
  for (auto host = ByHostBase.upper_bound(key); host != ByHostBase.begin();) {
    --host;
    it = ByBase.find(host->second);
    if (it != ByBase.end() && key - host->first < it->second.size)
      return &it->second;
  }
  return nullptr;
}

std::optional<Allocation> AllocationTable::find(const void *address) {
  std::lock_guard lock(Mutex);
  if (Allocation *a = findLocked(address))
    return *a;
  return std::nullopt;
}

std::optional<AllocationNeighbour> AllocationTable::tryFindNeighbour(const void *address) {
  std::unique_lock lock(Mutex, std::try_to_lock);
  if (!lock)
    return std::nullopt;
  const auto key = reinterpret_cast<uintptr_t>(address);
  auto it = ByBase.upper_bound(key);
  if (it == ByBase.begin())
    return std::nullopt;
  --it;
  const uintptr_t end = it->first + it->second.size;
  if (key < end || key - end >= kAllocationGranule)
    return std::nullopt;
  return AllocationNeighbour{it->second.size, key - end};
}

AllocationTable &allocations() {
  static AllocationTable &table = *new AllocationTable; // outlives static destructors
  return table;
}

} // namespace wavesan::agent
