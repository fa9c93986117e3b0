// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One access to global memory, packed into the 64 bits that one atomic can exchange. Freestanding.
#ifndef WAVESAN_CORE_GLOBAL_SLOT_H
#define WAVESAN_CORE_GLOBAL_SLOT_H

#include "wavesan/abi/global_memory.h"

namespace wavesan::core {

using abi::kGlobalWhoBits;

/// A value type; 0 is "empty", therefore generations begin at 1.
///
///     bit 63   62      61     57..60  35..56  34          0..33
///     lost     narrow  write  bytes   site    lost bytes  wave's number, generation
class GlobalSlot {
public:
  static constexpr uint64_t kLost = uint64_t(1) << 63, kBytes = uint64_t(15) << 57,
                            kLostBytes = uint64_t(1) << kGlobalWhoBits;
  static constexpr uint64_t kConflicts = kBytes | uint64_t(3) << 61; ///< the more of these, the more it conflicts with
  constexpr GlobalSlot() = default;
  constexpr explicit GlobalSlot(uint64_t bits) : Bits(bits) {}
  constexpr GlobalSlot(uint32_t wave, uint32_t generation, uint32_t generationBits, uint32_t site, uint32_t bytes,
                       bool write, bool narrow)
      : Bits(uint64_t(generation) | uint64_t(wave) << generationBits | uint64_t(site & 0x3fffffu) << kSiteShift |
             uint64_t(bytes & 15u) << kBytesShift | uint64_t(write) << 61 | uint64_t(narrow) << 62) {}
  constexpr uint64_t bits() const { return Bits; }
  constexpr bool empty() const { return Bits == 0; }
  constexpr uint32_t generation(uint32_t generationBits) const { return uint32_t(Bits) & ((1u << generationBits) - 1); }
  constexpr uint32_t wave(uint32_t generationBits) const {
    return uint32_t((Bits & ((uint64_t(1) << kGlobalWhoBits) - 1)) >> generationBits);
  }
  constexpr uint32_t site() const { return uint32_t(Bits >> kSiteShift) & 0x3fffffu; }
  constexpr uint32_t bytes() const { return uint32_t(Bits >> kBytesShift) & 15u; } ///< of the granule
  constexpr bool write() const { return (Bits >> 61 & 1) != 0; }
  constexpr bool narrow() const { return (Bits >> 62 & 1) != 0; }       ///< an atomic that reaches its workgroup only
  constexpr bool lost() const { return (Bits & kLost) != 0; }           ///< its side could not keep a record
  constexpr bool lostBytes() const { return (Bits & kLostBytes) != 0; } ///< nor one that stands for the lost bytes
  constexpr uint64_t who() const { return Bits & ((uint64_t(1) << kGlobalWhoBits) - 1); }

private:
  static constexpr uint32_t kSiteShift = kGlobalWhoBits + 1, kBytesShift = kSiteShift + 22;
  static_assert(kBytesShift + 4 == 61);
  uint64_t Bits = 0;
};

/// Sides of a cell, two slots each.
enum GlobalSide : uint32_t { kPlainWrites = 0, kPlainReads = 2, kAtomics = 4 };
static_assert(kAtomics + 2 == abi::kGlobalSlots);

/// What a wave publishes when it arrives at a barrier, in one word: accesses of generations below complete() are
/// complete; those up to last() were made before.
class GlobalArrival {
public:
  constexpr explicit GlobalArrival(uint32_t bits) : Bits(bits) {}
  constexpr GlobalArrival(uint32_t complete, uint32_t last)
      : Bits((complete & 0xffffffu) | (last - complete < 255 ? last + 1 - complete : 255u) << 24) {}
  constexpr uint32_t bits() const { return Bits; }
  constexpr uint32_t complete() const { return Bits & 0xffffffu; }
  /// One more than the generation of the arrival; less after 255 barriers without a fence.
  constexpr uint32_t end() const { return complete() + (Bits >> 24); }
  /// 255 barriers without a fence are told from more no more.
  constexpr bool isBefore(uint32_t generation) const { return generation < end(); }

private:
  uint32_t Bits;
};

} // namespace wavesan::core

#endif // WAVESAN_CORE_GLOBAL_SLOT_H
