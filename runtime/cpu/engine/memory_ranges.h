// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes' ranges of memory, of lengths that are known when they are executed.
#ifndef WAVESAN_CPU_ENGINE_MEMORY_RANGES_H
#define WAVESAN_CPU_ENGINE_MEMORY_RANGES_H

#include "memory_check.h"
#include "wave.h"

namespace wavesan::cpu::engine {

template <Space space> uint64_t addressOf(const Wave &w, Register r, uint32_t i) {
  return space == Space::Flat ? w.at<uint64_t>(r)[i] : w.at<uint32_t>(r)[i];
}

/// Checks [address, address + length) of one lane.
template <Space space> bool checkRange(Wave &w, const Op &o, Register r, uint32_t lane, uint64_t length) {
  const uint64_t address = addressOf<space>(w, r, lane);
  if constexpr (space == Space::Flat) {
    if (!isBadFlat(flatBadness(address)) && !isBadFlat(flatBadness(address + length - 1)) && !(length >> 47)) [[likely]]
      return true;
    w.raiseAddress(o, Fault::Detail::HostAddress, lane, address);
  } else {
    const uint64_t size = space == Space::Lds ? w.ldsBytes : w.scratchStride;
    if (length <= size && address <= size - length) [[likely]]
      return true;
    w.raiseAddress(o, space == Space::Lds ? Fault::Detail::LdsRange : Fault::Detail::PrivateRange, lane, address);
  }
  return false;
}

template <class L> uint64_t lengthOf(const Wave &w, Register r, uint32_t i) { return w.at<L>(r)[i]; }

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_MEMORY_RANGES_H
