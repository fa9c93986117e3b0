// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of lane addresses before memory is touched. See wave.h for always_inline.
#ifndef WAVESAN_CPU_ENGINE_MEMORY_CHECK_H
#define WAVESAN_CPU_ENGINE_MEMORY_CHECK_H

#include "handlers.h"
#include "lanes.h"

namespace wavesan::cpu::engine {

/// The first 64 KiB are never mapped: offsets from a null pointer. Nothing lies above the user half (47 bits).
inline constexpr uint64_t kNullPages = 0x10000;
[[gnu::always_inline]] inline uint64_t flatBadness(uint64_t address) { return address - kNullPages; }
/// True if one of the or-ed badnesses was out of range.
[[gnu::always_inline]] inline bool isBadFlat(uint64_t badness) { return badness >> 47; }

[[gnu::always_inline]] inline bool checkFlatLanes(const Wave &w, const uint64_t *address, uint64_t offset) {
  uint64_t bad = 0;
  forEachLane(w.exec, [&](uint32_t i) { bad |= flatBadness(address[i] + offset); });
  return !isBadFlat(bad);
}

[[gnu::always_inline]] inline bool checkSegment(const Wave &w, const uint32_t *address, uint64_t bytes, uint64_t size) {
  uint32_t largest = 0;
  if (w.exec == w.allLanes) {
    const uint32_t lanes = w.lanes;
    __builtin_assume(lanes % 32 == 0);
    for (uint32_t i = 0; i < lanes; ++i)
      largest = address[i] > largest ? address[i] : largest;
  } else {
    forEachLane(w.exec, [&](uint32_t i) { largest = address[i] > largest ? address[i] : largest; });
  }
  return largest + bytes <= size;
}

/// Stops the wave with a MemoryFault that names the first bad lane.
void raiseFlat(Wave &w, const Op &op, const uint64_t *address);
void raiseSegment(Wave &w, const Op &op, const uint32_t *address, uint64_t bytes, uint64_t size, Space space);

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_MEMORY_CHECK_H
