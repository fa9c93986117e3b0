// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slot: one access, packed into the 64 bits that one atomic can exchange. Freestanding.
//
// A cell is four slots (two writers, two readers) and covers one granule of LDS: the largest power of two of bytes
// such that every access of the kernel covers whole granules (1, 2 or 4). docs/algorithm.md says why granules.
#ifndef WAVESAN_CORE_CELL_H
#define WAVESAN_CORE_CELL_H

#include "wavesan/abi/dispatch.h"
#include "wavesan/abi/hooks.h"

namespace wavesan::core {

/// One access as a cell remembers it. A value type: fields in, 64 bits out. 0 is "empty", therefore generations
/// begin at 1.
class Slot {
public:
  static constexpr uint32_t kGenerationBits = 24, kEpochBits = 5, kSiteBits = 22, kLaneBits = 6, kWaveBits = 6;
  static constexpr uint32_t kMaxGeneration = (1u << kGenerationBits) - 1;

  constexpr Slot() = default;
  constexpr explicit Slot(uint64_t bits) : Bits(bits) {}
  constexpr Slot(uint32_t wave, uint32_t lane, uint32_t site, uint32_t generation, uint32_t epoch, bool atomic)
      : Bits(field(generation, 0, kGenerationBits) | field(epoch, kEpochShift, kEpochBits) |
             field(site, kSiteShift, kSiteBits) | field(lane, kLaneShift, kLaneBits) |
             field(wave, kWaveShift, kWaveBits) | (uint64_t(atomic) << 63)) {}

  constexpr uint64_t bits() const { return Bits; }
  constexpr bool empty() const { return Bits == 0; }
  constexpr uint32_t generation() const { return get(0, kGenerationBits); }
  /// Low bits of the epoch of the access; only for telling "no barrier between" from "not complete at the barrier".
  constexpr uint32_t epochLow() const { return get(kEpochShift, kEpochBits); }
  constexpr uint32_t site() const { return get(kSiteShift, kSiteBits); }
  constexpr uint32_t lane() const { return get(kLaneShift, kLaneBits); }
  constexpr uint32_t wave() const { return get(kWaveShift, kWaveBits); }
  constexpr bool atomic() const { return Bits >> 63; }
  static constexpr uint32_t epochLowOf(uint32_t epoch) { return epoch & ((1u << kEpochBits) - 1); }

private:
  static constexpr uint32_t kEpochShift = kGenerationBits, kSiteShift = kEpochShift + kEpochBits,
                            kLaneShift = kSiteShift + kSiteBits, kWaveShift = kLaneShift + kLaneBits;
  static_assert(kWaveShift + kWaveBits == 63);
  static constexpr uint64_t field(uint32_t v, uint32_t shift, uint32_t bits) {
    return (uint64_t(v) & ((uint64_t(1) << bits) - 1)) << shift;
  }
  constexpr uint32_t get(uint32_t shift, uint32_t bits) const {
    return uint32_t((Bits >> shift) & ((uint64_t(1) << bits) - 1));
  }
  uint64_t Bits = 0;
};
static_assert(sizeof(Slot) == 8);
static_assert(1u << Slot::kSiteBits == 1u << 22 && (1u << Slot::kWaveBits) >= 2 * abi::kMaxWavesPerWorkgroup);

/// Who accesses, as a slot's `wave`: a wave, or the asynchronous copies of one, which go on while the wave does.
constexpr uint32_t copiesOf(uint32_t wave) { return wave + abi::kMaxWavesPerWorkgroup; }
constexpr bool isCopies(uint32_t agent) { return agent >= abi::kMaxWavesPerWorkgroup; }
constexpr uint32_t waveOf(uint32_t agent) { return agent & (abi::kMaxWavesPerWorkgroup - 1); }

/// Slots of a cell: writers (plain stores and atomics that write), then readers (plain and atomic loads).
inline constexpr uint32_t kWriterSlots = 0, kReaderSlots = 2, kSlotsPerSide = 2, kSlotsPerCell = 4;
static_assert(kSlotsPerCell * sizeof(Slot) == abi::kCellBytes);

/// Do two accesses by different waves conflict? At least one writes, and they are not both atomic. Atomic means
/// with respect to the workgroup (abi::atomicInWorkgroup): whoever accesses takes a narrower atomic for a plain access.
///
///              R    atomic R   W    atomic W
///   R          -        -      x       x
///   atomic R   -        -      x       -
///   W          x        x      x       x
///   atomic W   x        -      x       -
constexpr bool conflicting(bool writeA, bool atomicA, bool writeB, bool atomicB) {
  return (writeA || writeB) && !(atomicA && atomicB);
}

} // namespace wavesan::core

#endif // WAVESAN_CORE_CELL_H
