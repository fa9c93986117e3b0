// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "host_lock.h"

#include "agents.h"
#include "memory.h"
#include "page_share.h"

#include <atomic>
#include <cstdio>
#include <sys/mman.h>

namespace wavesan::agent {
namespace {

/// A locked range. Page-granular: [hostPage, hostPage + bytes) is what gets mapped at aliasPage.
struct Lock {
  char *host;
  size_t size;
  char *hostPage;
  char *aliasPage;
  size_t bytes;
  bool shared; ///< aliasPage maps the same pages as hostPage
};

struct LockTable {
  std::mutex mutex;
  std::map<uintptr_t, Lock> byAlias; ///< by the GPU's address of the first byte
};

LockTable &locks() {
  static LockTable &table = *new LockTable; // outlives static destructors
  return table;
}

/// Number of locks whose alias is not real yet; lets copies and kernels skip the table.
std::atomic<uint32_t> Unshared{0};

char *aliasOf(const Lock &l) { return l.aliasPage + (l.host - l.hostPage); }

} // namespace

hsa_status_t lockHostMemory(void *host, size_t size, uint32_t globalFlags, void **out) {
  if (!host || size == 0 || !out)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  void *known = nullptr;
  allocations().with(host, [&](Allocation &a) {
    // HSA memory is accessible as it is; a range inside a lock shares its alias.
    const ptrdiff_t offset = static_cast<char *>(host) - static_cast<char *>(a.hostBase);
    if (offset < 0 || size_t(offset) + size > a.size)
      return;
    known = static_cast<char *>(a.base) + offset;
    if (a.type == HSA_EXT_POINTER_TYPE_LOCKED && offset == 0)
      ++a.locks;
    else
      known = a.type == HSA_EXT_POINTER_TYPE_LOCKED ? nullptr : known;
  });
  if (known) {
    *out = known;
    return HSA_STATUS_SUCCESS;
  }
  Lock l;
  l.host = static_cast<char *>(host);
  l.size = size;
  const uintptr_t page = kAllocationGranule;
  const uintptr_t first = reinterpret_cast<uintptr_t>(host) / page * page;
  const uintptr_t last = (reinterpret_cast<uintptr_t>(host) + size + page - 1) / page * page;
  l.hostPage = reinterpret_cast<char *>(first);
  l.bytes = last - first;
  void *alias = mmap(nullptr, l.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (alias == MAP_FAILED)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  l.aliasPage = static_cast<char *>(alias);
  l.shared = false;
  Allocation a{.base = aliasOf(l),
               .size = size,
               .hostBase = host,
               .agent = kCpuAgent,
               .globalFlags = globalFlags,
               .type = HSA_EXT_POINTER_TYPE_LOCKED,
               .callbacks = {}};
  a.locks = 1;
  {
    std::lock_guard lock(locks().mutex);
    locks().byAlias.emplace(reinterpret_cast<uintptr_t>(a.base), l);
    ++Unshared;
  }
  allocations().add(a);
  *out = a.base;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t unlockHostMemory(void *host) {
  if (!host)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  void *base = nullptr;
  const auto unlock = [&](Allocation &a) {
    if (a.type == HSA_EXT_POINTER_TYPE_LOCKED && --a.locks == 0)
      base = a.base;
  };
  // HIP gives a registration up when nothing uses it any more, perhaps after the program has made the next one there.
  if (!allocations().withFirstLock(host, unlock) && !allocations().with(host, unlock))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!base || !allocations().remove(base))
    return HSA_STATUS_SUCCESS;
  std::lock_guard lock(locks().mutex);
  auto it = locks().byAlias.find(reinterpret_cast<uintptr_t>(base));
  if (it != locks().byAlias.end()) {
    if (!it->second.shared)
      --Unshared;
    munmap(it->second.aliasPage, it->second.bytes);
    locks().byAlias.erase(it);
  }
  return HSA_STATUS_SUCCESS;
}

void *hostView(void *address) {
  if (Unshared.load(std::memory_order_acquire) == 0)
    return address;
  std::lock_guard lock(locks().mutex);
  auto it = locks().byAlias.upper_bound(reinterpret_cast<uintptr_t>(address));
  if (it == locks().byAlias.begin())
    return address;
  const Lock &l = (--it)->second;
  const size_t offset = reinterpret_cast<uintptr_t>(address) - it->first;
  return offset < l.size && !l.shared ? l.host + offset : address;
}

bool materializeLocks() {
  if (Unshared.load(std::memory_order_acquire) == 0)
    return true;
  std::lock_guard lock(locks().mutex);
  for (auto &[alias, l] : locks().byAlias) {
    if (l.shared)
      continue;
    if (!sharePages(l.hostPage, l.bytes, l.aliasPage)) {
      std::fprintf(stderr, "wavesan: %zu bytes of registered host memory at %p cannot be mapped for kernels\n", l.size,
                   static_cast<void *>(l.host));
      return false;
    }
    l.shared = true;
    --Unshared;
  }
  return true;
}

} // namespace wavesan::agent
