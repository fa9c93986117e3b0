// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is specific to amdgcn: address spaces, lanes, waits, atomics with scopes. The only file of the device runtime
// with builtins. Compiled without -mcpu: one bitcode serves all targets.
#ifndef WAVESAN_DEVICE_PLATFORM_AMDGCN_H
#define WAVESAN_DEVICE_PLATFORM_AMDGCN_H

#include "wave_state.h"
#include "wavesan/core/lds_access.h"
#include "wavesan/core/race_table.h"

#define WAVESAN_INLINE inline __attribute__((always_inline))

namespace wavesan::device {

template <class T> using Lds = __attribute__((address_space(3))) T;
template <class T> using Global = __attribute__((address_space(1))) T;
using PrivateState = __attribute__((address_space(5))) WaveState;

template <class T> WAVESAN_INLINE Lds<T> *ldsAt(uint32_t byteOffset) { return (Lds<T> *)byteOffset; }
template <class T> WAVESAN_INLINE Global<T> *globalAt(uint64_t address) { return (Global<T> *)address; }
WAVESAN_INLINE const Global<abi::DispatchContext> *contextOf(uint64_t address) {
  return (const Global<abi::DispatchContext> *)address;
}

WAVESAN_INLINE uint32_t rankAmong(uint64_t mask) {
  return __builtin_amdgcn_mbcnt_hi(uint32_t(mask >> 32), __builtin_amdgcn_mbcnt_lo(uint32_t(mask), 0));
}
WAVESAN_INLINE uint32_t laneId() { return rankAmong(~0ull); }
/// True in one active lane of the wave.
WAVESAN_INLINE bool isFirstActiveLane() { return rankAmong(__builtin_amdgcn_read_exec()) == 0; }
WAVESAN_INLINE uint32_t activeLanes() { return __builtin_popcountll(__builtin_amdgcn_read_exec()); }

/// The wave's own record in LDS.
WAVESAN_INLINE Lds<abi::WaveRecord> *recordOf(uint32_t stateOffset, uint32_t wave) {
  return ldsAt<abi::WaveRecord>(stateOffset + uint32_t(__builtin_offsetof(abi::WorkgroupState, waves)) +
                                wave * uint32_t(sizeof(abi::WaveRecord)));
}
WAVESAN_INLINE Lds<uint32_t> *barrierGenerationAt(uint32_t stateOffset, uint32_t epoch, uint32_t wave) {
  return ldsAt<uint32_t>(stateOffset + uint32_t(__builtin_offsetof(abi::WorkgroupState, barrierGeneration)) +
                         ((epoch % abi::kEpochBuffers) * abi::kMaxWavesPerWorkgroup + wave) * 4);
}

template <class Pointer> WAVESAN_INLINE auto loadShared(Pointer p) {
  return __scoped_atomic_load_n(p, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
}
template <class Pointer, class Value> WAVESAN_INLINE void storeShared(Pointer p, Value v) {
  __scoped_atomic_store_n(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
}

/// Waits for this wave's LDS operations; orders nothing else.
WAVESAN_INLINE void ldsFence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup", "local"); }

/// Where the cells are. One piece of code serves both places: the branch is uniform, and a second copy of the detector
/// would cost more than it saves.
struct Cells {
  uint64_t base; ///< LDS byte offset or global address
  bool inLds;
  WAVESAN_INLINE Lds<uint64_t> *ldsSlot(uint32_t cell, uint32_t slot) const {
    return ldsAt<uint64_t>(uint32_t(base) + cell * abi::kCellBytes + slot * 8);
  }
  WAVESAN_INLINE Global<uint64_t> *globalSlot(uint32_t cell, uint32_t slot) const {
    return globalAt<uint64_t>(base + uint64_t(cell) * abi::kCellBytes + slot * 8);
  }
};

template <class Pointer>
WAVESAN_INLINE bool compareExchangeShared(Pointer p, uint64_t &expected, uint64_t desired) {
  uint64_t e = expected;
  const bool done = __scoped_atomic_compare_exchange_n(p, &e, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                                       __MEMORY_SCOPE_WRKGRP);
  expected = e;
  return done;
}

/// Words of the RaceTable: the host and other workgroups look at them.
struct TableMemory {
  WAVESAN_INLINE uint64_t load64(uint64_t *p) {
    return __scoped_atomic_load_n((Global<uint64_t> *)p, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  }
  WAVESAN_INLINE uint64_t compareExchange64(uint64_t *p, uint64_t expected, uint64_t desired) {
    __scoped_atomic_compare_exchange_n((Global<uint64_t> *)p, &expected, desired, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    return expected;
  }
  WAVESAN_INLINE void add32(uint32_t *p, uint32_t v) {
    __scoped_atomic_fetch_add((Global<uint32_t> *)p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  }
  WAVESAN_INLINE void storeRelease32(uint32_t *p, uint32_t v) {
    __scoped_atomic_store_n((Global<uint32_t> *)p, v, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
  }
};
WAVESAN_INLINE void addCounter(Global<uint64_t> *counter, uint64_t v) {
  __scoped_atomic_fetch_add(counter, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

/// The detector's Platform (core/lds_detector.h) on amdgcn.
struct Amdgcn {
  Cells cells;
  uint64_t context;
  uint32_t stateOffset, wave, lane, site, access, epoch, variable;

  WAVESAN_INLINE uint64_t load(uint32_t cell, uint32_t slot) {
    return cells.inLds ? loadShared(cells.ldsSlot(cell, slot)) : loadShared(cells.globalSlot(cell, slot));
  }
  WAVESAN_INLINE bool compareExchange(uint32_t cell, uint32_t slot, uint64_t &expected, uint64_t desired) {
    return cells.inLds ? compareExchangeShared(cells.ldsSlot(cell, slot), expected, desired)
                       : compareExchangeShared(cells.globalSlot(cell, slot), expected, desired);
  }
  /// LDS executes the operations of a workgroup in one order; global memory needs the fence.
  WAVESAN_INLINE void publishBeforeLook() {
    if (cells.inLds)
      ldsFence();
    else
      __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  }
  WAVESAN_INLINE uint32_t barrierGeneration(uint32_t e, uint32_t w) {
    return loadShared(barrierGenerationAt(stateOffset, e, w));
  }
  WAVESAN_INLINE uint32_t endEpoch(uint32_t w) { return loadShared(&recordOf(stateOffset, w)->endEpoch); }
  WAVESAN_INLINE void evicted(uint32_t w, uint32_t generation) {
    __scoped_atomic_fetch_max(&recordOf(stateOffset, w)->evictedGeneration, generation + 1, __ATOMIC_RELAXED,
                              __MEMORY_SCOPE_WRKGRP);
  }
  WAVESAN_INLINE void conflictRange(const core::ConflictRange &c) {
    auto *ctx = contextOf(context);
    auto *counters = (Global<abi::DispatchCounters> *)ctx->counters;
    abi::RaceRecord r;
    r.key = abi::raceKey(site, c.previous.site(), c.raceClass);
    r.raceClass = uint32_t(c.raceClass);
    r.address = c.address;
    r.size = c.size;
    r.variableOffset = variable == abi::kNoVariable ? abi::kNoVariable : c.address - variable;
    r.space = uint32_t(abi::RaceSpace::Lds);
    r.neededScope = 0;
    r.workgroup[0] = r.previousWorkgroup[0] = __builtin_amdgcn_workgroup_id_x();
    r.workgroup[1] = r.previousWorkgroup[1] = __builtin_amdgcn_workgroup_id_y();
    r.workgroup[2] = r.previousWorkgroup[2] = __builtin_amdgcn_workgroup_id_z();
    r.epoch = epoch;
    r.current = {site, uint16_t(wave), uint8_t(lane), uint8_t(access)};
    r.previous = {c.previous.site(), uint16_t(c.previous.wave()), uint8_t(c.previous.lane()),
                  uint8_t((c.previousWrites ? abi::kAccessWrite : abi::kAccessRead) |
                          (c.previous.atomic() ? abi::kAccessAtomic : 0u))};
    addCounter(&counters->racesSeen, 1);
    TableMemory memory;
    if (!core::addRace(memory, (abi::RaceTable *)(Global<abi::RaceTable> *)ctx->raceTable, r))
      addCounter(&counters->racesDropped, 1);
  }
};

} // namespace wavesan::device

#endif // WAVESAN_DEVICE_PLATFORM_AMDGCN_H
