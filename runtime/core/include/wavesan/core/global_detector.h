// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The race detector for global memory: what one lane does for one granule. Freestanding, no globals, no allocation.
// docs/algorithm.md, "Global memory on a GPU", has the argument.
//
// A cell has three sides of two slots: plain writes, plain reads, atomics. What a side does with a new access N of wave z:
//
//   a record of z, same generation, that covers N              nothing
//   a record that comes before N and that N covers             replace it
//   a record of z, same generation and site, other bytes       join the bytes
//   an empty slot                                              take it
//   a record weaker than N on N's bytes (atomics)              take its place, note the loss
//   two records of one workgroup, z of another                 take the second one's place, note the loss
//   else                                                       not recorded, note the loss
//
// One record covers another if it conflicts with all that the other one conflicts with. The last three rows lose a record.
// While only barriers order accesses, of the whole workgroup or of the whole grid, that hides no racy byte: two records of
// different workgroups stand for any third, and two of different waves for any third of their workgroup. With releases and
// acquires it may: the side's `lost` bit says so to whoever finds no race and knows something by them. Records that do not
// stand for the lost one's bytes are counted at once.
#ifndef WAVESAN_CORE_GLOBAL_DETECTOR_H
#define WAVESAN_CORE_GLOBAL_DETECTOR_H

#include "wavesan/abi/dispatch.h"
#include "wavesan/core/global_slot.h"

namespace wavesan::core {

/// The lane that accesses. `bytes`: of the granule.
struct GlobalAccessor {
  uint32_t wave, generation, site, bytes;
  bool write, atomic, narrow;
  uint32_t waveBits, generationBits;
  constexpr GlobalSlot slot() const {
    return GlobalSlot(wave, generation, generationBits, site, bytes, write, narrow);
  }
  constexpr uint32_t side() const { return atomic ? kAtomics : write ? kPlainWrites : kPlainReads; }
};

/// Where an earlier access stands.
enum class GlobalOrder : uint32_t {
  Before,
  Race,         ///< nothing orders the two
  MissingFence, ///< a barrier lies between, but it was not complete then
  Unknown,      ///< it may have been released, and something that the accessor acquired was not kept
};

struct GlobalFinding {
  uint64_t previous = 0; ///< GlobalSlot; 0: none
  uint32_t flags = 0;    ///< GlobalFlags
  constexpr GlobalOrder order() const { return GlobalOrder(flags & 3u); }
  constexpr uint32_t side() const { return flags >> 2 & 7u; } ///< of the previous access
};

/// Bits 0-1: GlobalOrder; bits 2-4: GlobalSide of what was found. Single bits in one word: lanes differ in them, and each truth
/// value of a wave would take scalar registers.
enum GlobalFlags : uint32_t {
  kFoundLost = 1u << 5,       ///< a side of plain accesses that it was compared with could not keep a record
  kFoundLostAtomic = 1u << 6, ///< the same of atomics
  kFirstBefore = 1u << 7,     ///< of the own side's records: it comes before
  kSecondBefore = 1u << 8,
  kLossHard = 1u << 9, ///< notKept()
  kLossOwn = 1u << 10, ///< evictedOwn()
};

// Platform concept:
//   uint64_t load(uint32_t slot)
//   bool compareExchange(uint32_t slot, uint64_t expected, uint64_t desired)
//   void publishBeforeLook()
//   GlobalOrder order(uint32_t wave, uint32_t generation)   // also of the own wave
//   uint64_t acquirer()           // GlobalVariable::acquirer, if it has acquired all atomic writes to the location; else ~0
//   void evictedOwn()             // the accessor's wave: its record was not kept, two of its workgroup stand for it
//   void notKept()                // a record was lost that none stands for

constexpr bool coversGlobal(GlobalSlot have, GlobalSlot want) {
  return (have.bytes() & want.bytes()) == want.bytes() && have.write() >= want.write() && have.narrow() >= want.narrow();
}

/// Could the two be in conflict, whatever their order? They are of different waves and have bytes in common.
constexpr bool conflictingGlobal(uint32_t side, GlobalSlot s, const GlobalAccessor &a, bool sameWorkgroup) {
  if (side == kPlainWrites)
    return true;
  if (side == kPlainReads)
    return a.write;
  if (!a.atomic)
    return a.write || s.write();
  return (a.write || s.write()) && !sameWorkgroup && (a.narrow || s.narrow());
}

/// One row of the table above: the slot of the own side to write, 2 for none; what to write; and losses in `flags`.
constexpr uint32_t chooseGlobal(GlobalSlot s0, GlobalSlot s1, const GlobalAccessor &a, uint64_t &desired, uint32_t &flags) {
  const GlobalSlot want = a.slot();
  const uint32_t group = a.wave >> a.waveBits;
  desired = want.bits();
  if ((s0.who() == want.who() && coversGlobal(s0, want)) || (s1.who() == want.who() && coversGlobal(s1, want)))
    return 2;
  if (!s0.empty() && (flags & kFirstBefore) && coversGlobal(want, s0))
    return 0;
  if (!s1.empty() && (flags & kSecondBefore) && coversGlobal(want, s1))
    return 1;
  for (uint32_t i = 0; i < 2; ++i) {
    const GlobalSlot s = i ? s1 : s0;
    if (s.who() == want.who() && s.site() == a.site && s.write() == a.write && s.narrow() == a.narrow) {
      desired |= s.bits();
      return i;
    }
  }
  if (s0.empty())
    return 0;
  if (s1.empty())
    return 1;
  desired |= GlobalSlot::kLost;
  if (coversGlobal(want, s0) && !coversGlobal(s0, want))
    return 0;
  if (coversGlobal(want, s1) && !coversGlobal(s1, want))
    return 1;
  const uint32_t wave0 = s0.wave(a.generationBits), wave1 = s1.wave(a.generationBits);
  const uint32_t group0 = wave0 >> a.waveBits;
  if (group0 == wave1 >> a.waveBits && group != group0) {
    flags |= coversGlobal(s0, s1) ? 0u : kLossHard;
    return 1;
  }
  flags |= coversGlobal(s0, want) && coversGlobal(s1, want) && wave0 != wave1 ? 0u : kLossHard;
  flags |= group0 == group ? kLossOwn : 0u;
  desired = s0.bits() | GlobalSlot::kLost;
  return s0.lost() ? 2 : 0; // nothing is left to do once the loss has been noted
}

/// Records the access and compares it with the others.
template <class Platform> inline GlobalFinding checkGlobalGranule(Platform &p, const GlobalAccessor &a) {
  const uint32_t own = a.side();
  const uint32_t group = a.wave >> a.waveBits;
  uint32_t losses = 0;
  for (;;) {
    GlobalFinding found;
    uint64_t mine0 = 0, mine1 = 0;
    // The last round asks for the location as a whole: the last block resets its ticket, and who has acquired all atomic
    // writes comes behind them.
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i <= abi::kGlobalSlots; ++i) {
      const uint32_t side = i & ~1u;
      const bool location = i == abi::kGlobalSlots;
      if (location && (a.atomic || ((found.flags & kFoundLostAtomic) == 0 && (found.previous == 0 || found.side() != kAtomics))))
        break;
      const uint64_t bits = location ? p.acquirer() : p.load(i);
      const GlobalSlot s(bits);
      if (location ? bits == ~uint64_t(0) : s.empty())
        continue;
      const uint32_t wave = location ? uint32_t(bits >> 32) : s.wave(a.generationBits);
      const uint32_t generation = location ? uint32_t(bits) : s.generation(a.generationBits);
      const bool conflicts = !location && wave != a.wave && (s.bytes() & a.bytes) != 0 &&
                             conflictingGlobal(side, s, a, wave >> a.waveBits == group);
      GlobalOrder order = GlobalOrder::Before;
      if (conflicts || side == own || location)
        order = p.order(wave, generation);
      if (location) {
        if (order == GlobalOrder::Before) {
          found.flags &= ~uint32_t(kFoundLostAtomic);
          if (found.side() == kAtomics)
            found.previous = 0;
        }
        break;
      }
      if (side == own) {
        (i & 1 ? mine1 : mine0) = bits;
        if (order == GlobalOrder::Before)
          found.flags |= i & 1 ? kSecondBefore : kFirstBefore;
      }
      // A side whose records cannot conflict with this access has lost nothing that could.
      if (s.lost() && side == kAtomics ? !a.atomic : s.lost() && (side == kPlainWrites || a.write))
        found.flags |= side == kAtomics ? kFoundLostAtomic : kFoundLost;
      if (conflicts && order != GlobalOrder::Before &&
          (found.previous == 0 || (found.order() == GlobalOrder::Unknown && order != GlobalOrder::Unknown))) {
        found.previous = bits;
        found.flags = (found.flags & ~31u) | uint32_t(order) | side << 2;
      }
    }
    uint64_t desired;
    uint32_t flags = found.flags;
    const uint32_t choice = chooseGlobal(GlobalSlot(mine0), GlobalSlot(mine1), a, desired, flags);
    if (choice != 2) {
      const uint64_t expected = choice == 0 ? mine0 : mine1;
      // A failure means that another publication succeeded. A loss that was noted stays noted.
      if (p.compareExchange(own + choice, expected, desired | (expected & GlobalSlot::kLost)))
        losses |= flags;
      p.publishBeforeLook();
      continue;
    }
    losses |= flags;
    if (losses & (kLossOwn | kLossHard)) {
      if (losses & kLossOwn)
        p.evictedOwn();
      if (losses & kLossHard)
        p.notKept();
    }
    return found;
  }
}

} // namespace wavesan::core

#endif // WAVESAN_CORE_GLOBAL_DETECTOR_H
