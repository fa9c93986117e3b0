// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the native hooks keep for one workgroup: the device runtime's state, the LDS shadow and the clocks of its waves.
#ifndef WAVESAN_CPU_WORKGROUP_SHADOW_H
#define WAVESAN_CPU_WORKGROUP_SHADOW_H

#include "divergence.h"
#include "global_check.h"
#include "lane_history.h"
#include "named_barrier_order.h"
#include "stored_values.h"
#include "wavesan/core/lds_access.h"
#include "wavesan/core/race_table.h"

#include <optional>
#include <utility>

namespace wavesan::cpu {

/// The four slots of a granule (core/cell.h).
struct alignas(32) Cell {
  uint64_t slots[core::kSlotsPerCell];
  bool operator==(const Cell &) const = default;
};

/// What the device runtime keeps in LDS and in registers, for one workgroup. Only the thread that executes the
/// workgroup touches it: plain loads and stores are enough, and publication and look are in program order.
struct WorkgroupShadow {
  const abi::DispatchContext *context = nullptr;
  abi::WorkgroupState state{};
  uint32_t laneCount[abi::kMaxWavesPerWorkgroup] = {};
  abi::DispatchCounters counters{};
  std::vector<Cell> cells;
  DispatchCheck *dispatch = nullptr;
  uint32_t workgroup = 0; ///< linear number
  uint32_t waveCount = 0;
  uint32_t shadowedBytes = 0; ///< of LDS: those that have cells; none if there is no memory for them
  uint64_t taken = 0;         ///< bytes of the budget that `lines` holds
  std::optional<WorkgroupOrder> order; ///< clocks of its waves
  SyncTable ldsSync;                   ///< atomics on its LDS; small, as LDS is
  std::unique_ptr<NamedBarrierOrder> named; ///< null: no named barrier so far
  bool orderedByAtomics = false; ///< a wave has learnt of another's LDS accesses through an atomic, or a named barrier
  uint64_t evictions = 0;              ///< records that cells of this workgroup lost
  DivergenceCheck divergence;
  StoredValues values; ///< of the store that its wave executes next
  /// Of a wave whose lanes are compared with one another.
  struct Lanes {
    LaneOrder language;                  ///< by the language (kContextLanguageOrder)
    LaneHistory byLanguage, byArms;
  };
  std::unique_ptr<Lanes> lanes[abi::kMaxWavesPerWorkgroup]; ///< null: nothing to compare so far
  /// For the fast path of lds_check.cpp, per wave; stale after anything that orders waves.
  struct Floors {
    bool current = false;
    /// LDS accesses of wave w in a generation below floor[w] happen before what the wave does next. A summary of its
    /// clock and of the waves that ended.
    uint32_t floor[2 * abi::kMaxWavesPerWorkgroup]; ///< then of the waves' copies
    /// And before what any wave does next.
    uint32_t retired[2 * abi::kMaxWavesPerWorkgroup];
    /// By kind of access (write, atomic): cells that it found in this generation of the wave, and what it did. A small
    /// direct-mapped table.
    struct Steps {
      static constexpr uint32_t kKept = 8;
      Cell found[kKept];
      uint32_t step[kKept];
      uint64_t record; ///< of lane 0 and site 0
      uint32_t generation;
    } steps[4];
  } floors[abi::kMaxWavesPerWorkgroup];

  /// Prepares for a workgroup of this dispatch; memory of the workgroup before is reused.
  void start(const abi::DispatchContext *c, DispatchCheck *check, uint32_t number, uint32_t waves,
             MemoryBudget &budget) {
    context = c;
    state = {};
    counters = {};
    const uint64_t needed = abi::shadowBytes(c->ldsBytes, c->granuleLog2) / abi::kCellBytes;
    if (const uint64_t bytes = needed * sizeof(Cell); bytes > taken) {
      cells = {};
      budget.give(std::exchange(taken, 0));
      if (budget.take(bytes))
        taken = bytes;
    }
    const bool fits = needed * sizeof(Cell) <= taken;
    cells.reserve(fits ? taken / sizeof(Cell) : 0);
    cells.assign(fits ? needed : 0, Cell{});
    shadowedBytes = fits ? c->ldsBytes : 0;
    if (!fits && check && check->trial())
      check->trial()->fail(); // fewer workgroups at a time need less
    dispatch = check;
    workgroup = number;
    waveCount = waves;
    order.emplace(workgroup, waves);
    ldsSync.clear();
    values.forget();
    named.reset();
    orderedByAtomics = false;
    evictions = 0;
    for (auto &l : lanes)
      l.reset();
    orderChanged();
  }

  uint64_t &slot(uint32_t cell, uint32_t slot) { return cells[cell].slots[slot]; }

  /// LDS accesses of `agent` (core::copiesOf) in older generations happen before what the wave does next: through
  /// barriers, and through atomics on LDS or on global memory.
  uint32_t knownBelow(uint32_t wave, uint32_t agent) const {
    return order->wave(wave).clock.local[boundIndex(core::isCopies(agent) ? kCopies : kLds, core::waveOf(agent))];
  }
  /// And through barriers alone, so that they happen before what any wave does next. What a wave knows of itself, and
  /// of others through atomics, says nothing about the rest.
  uint32_t retiredBelow(uint32_t wave, uint32_t agent) const {
    if (core::isCopies(agent))
      return orderedByAtomics ? 0 : knownBelow(wave, agent);
    const uint32_t epoch = state.waves[wave].epoch;
    return state.waves[agent].barrierGeneration[epoch % abi::kEpochBuffers];
  }

  /// Call behind everything that may change what waves know of one another.
  void orderChanged(uint32_t wave) { floors[wave].current = false; }
  void orderChanged() {
    for (Floors &f : floors)
      f.current = false;
  }

  /// Call behind what may have acquired. `before`: the wave's bounds before it.
  void noteAcquired(const Bounds &before, const Bounds &after) {
    if (orderedByAtomics)
      return;
    for (uint32_t w = 0; w < waveCount; ++w)
      if (before[boundIndex(kLds, w)] != after[boundIndex(kLds, w)]) {
        orderedByAtomics = true;
        counters.historyOverflow += evictions;
        orderChanged(); // what is retired is another question from now on
        return;
      }
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

/// Whether a report says that two accesses have no order.
constexpr bool isOfOrder(abi::RaceClass c) {
  return c == abi::RaceClass::Race || c == abi::RaceClass::MissingFence || c == abi::RaceClass::ScopeTooSmall;
}

/// True if a report is of two stores whose values can be compared.
constexpr bool isOfPlainStores(const abi::RaceRecord &r) {
  return isOfOrder(abi::RaceClass(r.raceClass)) && r.current.access == abi::kAccessWrite &&
         r.previous.access == abi::kAccessWrite;
}

/// Not reported: conflicts that a release which could not be kept may have ordered. The summary counts such releases.
inline void report(WorkgroupShadow &shadow, const abi::RaceRecord &r) {
  if (shadow.dispatch && shadow.dispatch->trial())
    return shadow.dispatch->trial()->fail(); // it will be found again
  if (shadow.dispatch && shadow.dispatch->orderLost() && isOfOrder(abi::RaceClass(r.raceClass)))
    return;
  ++shadow.counters.racesSeen;
  HostMemory memory;
  auto *table = reinterpret_cast<abi::RaceTable *>(shadow.context->raceTable);
  const bool values = isOfPlainStores(r);
  abi::RaceRecord entry = r;
  if (values) // of a new entry: no conflict has said otherwise
    entry.current.access |= abi::kSideValueHeld;
  if (!core::addRace(memory, table, entry))
    ++shadow.counters.racesDropped;
  else if (values)
    shadow.values.reported(*core::findRace(memory, table, r.key), r);
}

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_WORKGROUP_SHADOW_H
