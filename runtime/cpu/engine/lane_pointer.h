// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host pointers of lanes, for operations that visit lanes one by one.
#ifndef WAVESAN_CPU_ENGINE_LANE_POINTER_H
#define WAVESAN_CPU_ENGINE_LANE_POINTER_H

#include "memory_check.h"

namespace wavesan::cpu::engine {

/// Checks that all active lanes may access `bytes` bytes at register `r` + offset; faults otherwise.
template <Space space>
[[gnu::always_inline]] inline bool checkLanes(Wave &w, const Op &o, Register r, uint64_t offset, uint64_t bytes) {
  if constexpr (space == Space::Flat) {
    const uint64_t *address = w.at<uint64_t>(r);
    if (checkFlatLanes(w, address, offset)) [[likely]]
      return true;
    raiseFlat(w, o, address);
  } else {
    const uint32_t *address = w.at<uint32_t>(r);
    const uint64_t size = space == Space::Lds ? w.ldsBytes : w.scratchStride;
    if (checkSegment(w, address, offset + bytes, size)) [[likely]]
      return true;
    raiseSegment(w, o, address, offset + bytes, size, space);
  }
  return false;
}

template <Space space>
[[gnu::always_inline]] inline uint8_t *lanePointer(const Wave &w, Register r, uint32_t lane, uint64_t offset) {
  if constexpr (space == Space::Flat)
    return reinterpret_cast<uint8_t *>(w.at<uint64_t>(r)[lane] + offset);
  else if constexpr (space == Space::Lds)
    return w.lds + w.at<uint32_t>(r)[lane] + offset;
  else
    return w.scratch + size_t(lane) * w.scratchStride + w.at<uint32_t>(r)[lane] + offset;
}

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_LANE_POINTER_H
