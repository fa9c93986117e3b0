// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of the two agents: pools, allocations, and host memory locked for the GPU.
//
// Device memory is host memory. What is kept apart is what a program can observe: owner and pool of an allocation,
// the capacity of the GPU, and the GPU's own address of locked host memory (host_lock.h).
#ifndef WAVESAN_CPU_AGENT_MEMORY_H
#define WAVESAN_CPU_AGENT_MEMORY_H

#include "hsa_headers.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace wavesan::agent {

enum class Pool : uint64_t {
  HostFine = 0x10,
  HostKernarg,
  HostCoarse,
  GpuCoarse,
  GpuFine,
  GpuGroup,
};

struct PoolInfo {
  Pool pool;
  hsa_agent_t agent;
  hsa_amd_segment_t segment;
  uint32_t globalFlags; ///< hsa_amd_memory_pool_global_flag_t
};

/// All pools, those of the CPU first.
const std::vector<PoolInfo> &allPools();
/// Null for a handle that is no pool.
const PoolInfo *findPool(hsa_amd_memory_pool_t pool);
uint64_t poolCapacity(const PoolInfo &pool);

inline constexpr size_t kAllocationGranule = 4096;

struct Allocation {
  void *base; ///< address for the GPU
  size_t size;
  void *hostBase; ///< differs from base for locked memory only
  hsa_agent_t agent;
  uint32_t globalFlags;
  hsa_amd_pointer_type_t type;
  void *userData = nullptr;
  size_t mappedBytes = 0;   ///< to be unmapped from base when freed
  bool countsAsGpu = false; ///< taken from the GPU's capacity
  uint32_t locks = 0;       ///< how often locked host memory was locked
  std::vector<std::pair<hsa_amd_deallocation_callback_t, void *>> callbacks;
};

/// An allocation that ends shortly before an address.
struct AllocationNeighbour {
  size_t size;     ///< of the allocation, in bytes
  size_t distance; ///< from its end to the address
};

/// All allocations of the process. Thread-safe.
class AllocationTable {
public:
  /// Allocates from a global pool; contents are zero. `size` in bytes, rounded up to the granule.
  hsa_status_t allocate(const PoolInfo &pool, size_t size, void **out);
  /// Frees an allocation made by allocate(), calling its deallocation callbacks first.
  hsa_status_t free(void *base);

  /// Adds memory that is managed elsewhere (locked host memory, loaded code objects).
  void add(const Allocation &allocation);
  /// Removes it again; nothing if `base` is no allocation's base.
  std::optional<Allocation> remove(void *base);

  /// The allocation that contains `address`, by GPU address, else by host address.
  std::optional<Allocation> find(const void *address);
  /// The allocation that ends at most a page before `address`. For signal handlers: nothing if the table is in use.
  std::optional<AllocationNeighbour> tryFindNeighbour(const void *address);
  /// Calls `f(Allocation &)` for it under the table's lock. False if there is none.
  template <class F> bool with(const void *address, F f) {
    std::lock_guard lock(Mutex);
    Allocation *a = findLocked(address);
    if (a)
      f(*a);
    return a != nullptr;
  }

  /// The same for host memory that was locked at this address: of several the one that was locked first.
  template <class F> bool withFirstLock(const void *host, F f) {
    std::lock_guard lock(Mutex);
    auto first = ByHostBase.lower_bound(reinterpret_cast<uintptr_t>(host)); // equal keys are in the order of insertion
    if (first == ByHostBase.end() || first->first != reinterpret_cast<uintptr_t>(host))
      return false;
    f(ByBase.at(first->second));
    return true;
  }

private:
  Allocation *findLocked(const void *address);

  std::mutex Mutex;
  std::map<uintptr_t, Allocation> ByBase;
  std::multimap<uintptr_t, uintptr_t> ByHostBase; ///< host base -> base, for locked memory; ranges may overlap
  uint64_t GpuBytes = 0;
};

AllocationTable &allocations();

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_MEMORY_H
