// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One lane's access to a range of LDS bytes: granule by granule through the detector, conflicts merged into ranges.
// Also the wave's bookkeeping at fences, barriers and its end. Freestanding.
#ifndef WAVESAN_CORE_LDS_ACCESS_H
#define WAVESAN_CORE_LDS_ACCESS_H

#include "wavesan/core/lds_detector.h"

namespace wavesan::core {

/// Geometry of the shadow, from the DispatchContext.
struct Shadow {
  uint32_t granuleLog2;
  uint32_t ldsBytes; ///< bytes that have cells
};

/// A run of conflicting bytes of one access with the same earlier side.
struct ConflictRange {
  Slot previous;
  bool previousWrites;
  abi::RaceClass raceClass;
  uint32_t address, size; ///< LDS bytes
};

/// Wraps a Platform and merges conflicts of neighbouring granules. `Base` provides the Platform concept's memory
/// functions and void conflictRange(const ConflictRange &).
template <class Base> struct MergingPlatform : Base {
  using Base::Base;
  uint32_t granuleLog2 = 0, begin = 0, end = 0; ///< of the access being checked
  ConflictRange pending{};                       ///< size 0: none

  void conflict(uint32_t cell, const Conflict &c) {
    uint32_t lo = cell << granuleLog2, hi = lo + (1u << granuleLog2);
    lo = lo < begin ? begin : lo;
    hi = hi > end ? end : hi;
    const Slot p = pending.previous;
    if (pending.size != 0 && pending.address + pending.size == lo && p.wave() == c.previous.wave() &&
        p.site() == c.previous.site() && pending.previousWrites == c.previousWrites &&
        pending.raceClass == c.raceClass) {
      pending.size += hi - lo;
      return;
    }
    flush();
    pending = {c.previous, c.previousWrites, c.raceClass, lo, hi - lo};
  }
  void flush() {
    if (pending.size != 0)
      Base::conflictRange(pending);
    pending.size = 0;
  }
};

/// Result of accessBytes for the dispatch's counters.
struct AccessResult {
  bool outsideShadow = false, generationOverflow = false;
};

/// Checks `size` bytes from LDS byte `address` on.
template <class Base>
inline AccessResult accessBytes(MergingPlatform<Base> &p, const Shadow &shadow, const Accessor &a, uint32_t address,
                                uint64_t size) {
  AccessResult result;
  if (size == 0)
    return result;
  if (a.generation > Slot::kMaxGeneration) {
    result.generationOverflow = true;
    return result;
  }
  if (address >= shadow.ldsBytes || size > shadow.ldsBytes - address) {
    result.outsideShadow = true;
    if (address >= shadow.ldsBytes)
      return result;
    size = shadow.ldsBytes - address;
  }
  p.granuleLog2 = shadow.granuleLog2;
  p.begin = address;
  p.end = address + uint32_t(size);
  const uint32_t last = (p.end - 1) >> shadow.granuleLog2;
  for (uint32_t cell = address >> shadow.granuleLog2; cell <= last; ++cell)
    checkGranule(p, cell, a);
  p.flush();
  return result;
}

/// Does a fence with this info (abi/hooks.h) complete the wave's LDS accesses? By the AMDGPU memory model a release or
/// acquire fence of workgroup scope or wider waits for them; narrower scopes emit no wait.
constexpr bool fenceCompletesLds(uint32_t info) {
  return (abi::fenceBits(info) & abi::kFenceLds) != 0 &&
         (abi::fenceBits(info) & (abi::kFenceAcquire | abi::kFenceRelease | abi::kFenceSeqCst)) != 0 &&
         abi::fenceScope(info) >= abi::Scope::Workgroup;
}

/// Slot generations begin at 1, WaveRecord::generation at 0.
constexpr uint32_t slotGeneration(uint32_t recordGeneration) { return recordGeneration + 1; }

/// Value that a wave publishes at a barrier: everything of an older slot generation is complete.
constexpr uint32_t barrierGenerationOf(uint32_t recordGeneration) { return slotGeneration(recordGeneration); }

/// Behind a barrier: did a cell lose a record of this wave that is still live? `bound` is the wave's barrier
/// generation of the epoch that begins; see the table in lds_detector.h.
constexpr bool lostLiveRecord(uint32_t evictedGeneration, uint32_t bound) { return evictedGeneration > bound; }

} // namespace wavesan::core

#endif // WAVESAN_CORE_LDS_ACCESS_H
