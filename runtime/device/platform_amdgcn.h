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
  return &recordOf(stateOffset, wave)->barrierGeneration[epoch % abi::kEpochBuffers];
}
WAVESAN_INLINE Lds<uint32_t> *globalBarrierAt(uint32_t stateOffset, uint32_t epoch, uint32_t wave) {
  return &recordOf(stateOffset, wave)->globalBarrier[epoch % abi::kEpochBuffers];
}
WAVESAN_INLINE Lds<uint32_t> *arrivedAt(uint32_t stateOffset, uint32_t epoch, uint32_t wave) {
  return &recordOf(stateOffset, wave)->arrivedAt[epoch & 1];
}

template <class Pointer> WAVESAN_INLINE auto loadShared(Pointer p) {
  return __scoped_atomic_load_n(p, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
}
template <class Pointer, class Value> WAVESAN_INLINE void storeShared(Pointer p, Value v) {
  __scoped_atomic_store_n(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
}

/// Waits for this wave's LDS operations; orders nothing else.
WAVESAN_INLINE void ldsFence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup", "local"); }

/// The same value in every active lane, put where the compiler knows it.
WAVESAN_INLINE uint32_t uniform(uint32_t v) { return __builtin_amdgcn_readfirstlane(v); }
WAVESAN_INLINE uint64_t uniform(uint64_t v) {
  return uint64_t(uniform(uint32_t(v))) | uint64_t(uniform(uint32_t(v >> 32))) << 32;
}

/// The same value, of which the compiler knows nothing: what is computed from it is computed again, not kept.
WAVESAN_INLINE uint32_t again(uint32_t v) {
#ifdef __AMDGCN__
  asm volatile("" : "+s"(v));
#else
  asm volatile("" : "+r"(v));
#endif
  return v;
}

template <class Pointer> WAVESAN_INLINE bool compareExchangeShared(Pointer p, uint64_t &expected, uint64_t desired) {
  uint64_t e = expected;
  const bool done = __scoped_atomic_compare_exchange_n(p, &e, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                                       __MEMORY_SCOPE_WRKGRP);
  expected = e;
  return done;
}

template <class Pointer> WAVESAN_INLINE auto loadDevice(Pointer p) {
  return __scoped_atomic_load_n(p, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
template <class Pointer, class Value> WAVESAN_INLINE void storeDevice(Pointer p, Value v) {
  __scoped_atomic_store_n(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
template <class Pointer, class Value> WAVESAN_INLINE void maxDevice(Pointer p, Value v) {
  __scoped_atomic_fetch_max(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
template <class Pointer, class Value>
WAVESAN_INLINE bool compareExchangeDevice(Pointer p, Value expected, Value desired) {
  return __scoped_atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                            __MEMORY_SCOPE_DEVICE);
}
/// What this wave wrote to global memory is there before what it writes next.
WAVESAN_INLINE void deviceRelease() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); }

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

template <class... T> WAVESAN_INLINE void makeUniform(T &...values) { ((values = uniform(values)), ...); }

/// Where the cells are: one type per place, so that the check of each is straight code.
struct LdsCells {
  static constexpr bool kInLds = true;
  uint32_t base; ///< LDS byte offset of the first cell
  LdsCells() = default;
  WAVESAN_INLINE explicit LdsCells(uint64_t cells) : base(uint32_t(cells)) {}
  WAVESAN_INLINE Lds<uint64_t> *slot(uint32_t cell, uint32_t index) const {
    return ldsAt<uint64_t>(base + cell * abi::kCellBytes + index * 8);
  }
  WAVESAN_INLINE uint64_t load(uint32_t cell, uint32_t index) const { return loadShared(slot(cell, index)); }
};
struct GlobalCells {
  static constexpr bool kInLds = false;
  uint64_t base; ///< address of the first cell
  GlobalCells() = default;
  WAVESAN_INLINE explicit GlobalCells(uint64_t cells) : base(cells) {}
  WAVESAN_INLINE Global<uint64_t> *slot(uint32_t cell, uint32_t index) const {
    return globalAt<uint64_t>(base + uint64_t(cell) * abi::kCellBytes + index * 8);
  }
  WAVESAN_INLINE uint64_t load(uint32_t cell, uint32_t index) const { return loadShared(slot(cell, index)); }
};
/// Either, decided at each load: for code that only looks and seldom runs.
struct AnyCells {
  uint64_t base;
  bool inLds;
  WAVESAN_INLINE uint64_t load(uint32_t cell, uint32_t index) const {
    return inLds ? LdsCells(base).load(cell, index) : GlobalCells(base).load(cell, index);
  }
};

/// The memory half of the detector's Platform (core/lds_detector.h) on amdgcn.
template <class Cells> struct ShadowMemory {
  Cells cells;
  uint32_t stateOffset;

  WAVESAN_INLINE uint64_t load(uint32_t cell, uint32_t slot) { return cells.load(cell, slot); }
  WAVESAN_INLINE bool compareExchange(uint32_t cell, uint32_t slot, uint64_t &expected, uint64_t desired) {
    return compareExchangeShared(cells.slot(cell, slot), expected, desired);
  }
  /// LDS executes the operations of a workgroup in one order; global memory needs the fence.
  WAVESAN_INLINE void publishBeforeLook() {
    if constexpr (Cells::kInLds)
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
};

} // namespace wavesan::device

#endif // WAVESAN_DEVICE_PLATFORM_AMDGCN_H
