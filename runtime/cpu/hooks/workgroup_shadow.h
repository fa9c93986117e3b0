// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the native hooks keep for one workgroup: the device runtime's state, the LDS shadow and the clocks of its waves.
#ifndef WAVESAN_CPU_WORKGROUP_SHADOW_H
#define WAVESAN_CPU_WORKGROUP_SHADOW_H

#include "divergence.h"
#include "global_check.h"
#include "wavesan/core/lds_access.h"
#include "wavesan/core/race_table.h"

#include <optional>

namespace wavesan::cpu {

/// What the device runtime keeps in LDS and in registers, for one workgroup. Only the thread that executes the
/// workgroup touches it: plain loads and stores are enough, and publication and look are in program order.
struct WorkgroupShadow {
  const abi::DispatchContext *context = nullptr;
  abi::WorkgroupState state{};
  uint32_t laneCount[abi::kMaxWavesPerWorkgroup] = {};
  abi::DispatchCounters counters{};
  std::vector<uint64_t> cells;
  DispatchCheck *dispatch = nullptr;
  uint32_t workgroup = 0;              ///< linear number
  std::optional<WorkgroupOrder> order; ///< clocks of its waves
  SyncTable ldsSync;                   ///< atomics on its LDS
  bool orderedByAtomics = false;       ///< a wave has learnt of another's LDS accesses through an atomic
  uint64_t evictions = 0;              ///< records that cells of this workgroup lost
  DivergenceCheck divergence;
  /// Per wave: LDS accesses of wave w in a generation below floor[w] happen before what the wave does next. A summary
  /// of its clock and of the waves that ended, for the fast path of lds_check.cpp; stale after anything that orders
  /// waves.
  struct Floors {
    bool current = false;
    uint32_t floor[2 * abi::kMaxWavesPerWorkgroup]; ///< then of the waves' copies
  } floors[abi::kMaxWavesPerWorkgroup];

  /// Prepares for a workgroup of this dispatch; memory of the workgroup before is reused.
  void start(const abi::DispatchContext *c, DispatchCheck *check, uint32_t number, uint32_t waves) {
    context = c;
    state = {};
    counters = {};
    const size_t bytes = abi::shadowBytes(c->ldsBytes, c->granuleLog2);
    cells.assign(bytes / sizeof(uint64_t), 0);
    dispatch = check;
    workgroup = number;
    order.emplace(workgroup, waves);
    ldsSync = SyncTable();
    orderedByAtomics = false;
    evictions = 0;
    orderChanged();
  }

  /// Call behind everything that may change what waves know of one another.
  void orderChanged(uint32_t wave) { floors[wave].current = false; }
  void orderChanged() {
    for (Floors &f : floors)
      f.current = false;
  }

  /// Call behind what may have acquired. `before`: the wave's bounds before it.
  void noteAcquired(const Bounds &before, const Bounds &after) {
    if (orderedByAtomics || std::equal(before.begin(), before.begin() + abi::kMaxWavesPerWorkgroup, after.begin()))
      return;
    orderedByAtomics = true;
    counters.historyOverflow += evictions;
  }
};

/// RaceTable words: other threads and the tool look at them.
struct HostMemory {
  uint64_t load64(uint64_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
  uint64_t compareExchange64(uint64_t *p, uint64_t expected, uint64_t desired) {
    __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return expected;
  }
  void add32(uint32_t *p, uint32_t v) { __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
  void storeRelease32(uint32_t *p, uint32_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
};

inline void report(WorkgroupShadow &shadow, const abi::RaceRecord &r) {
  ++shadow.counters.racesSeen;
  HostMemory memory;
  if (!core::addRace(memory, reinterpret_cast<abi::RaceTable *>(shadow.context->raceTable), r))
    ++shadow.counters.racesDropped;
}

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_WORKGROUP_SHADOW_H
