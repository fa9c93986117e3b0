// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The race detector for global memory: what one lane does for one granule. Freestanding, no globals, no allocation.
// docs/algorithm.md, "Global memory on a GPU", has the argument.
//
// A cell has three sides of two slots: plain writes, plain reads, atomics. What a side does with a new access N of wave
// z:
//
//   a record of z, same generation, that covers N              nothing
//   a record that comes before N and that N covers             replace it
//   a record of z, same generation and site, other bytes       join the bytes
//   an empty slot                                              take it
//   a record weaker than N on N's bytes (atomics)              take its place, note the loss
//   two records of one workgroup, z of another                 take the second one's place, note the loss
//   else                                                       not recorded, note the loss
//
// One record covers another if it conflicts with all that the other one conflicts with. The last three rows lose a
// record. While only barriers order accesses, of the whole workgroup or of the whole grid, that hides no racy byte: two
// records of different workgroups stand for any third, and two of different waves for any third of their workgroup.
// With releases and acquires it may: the side's `lost` bit says so to whoever finds no race and knows something by
// them. Where the records that are left do not stand for the lost one's bytes, `lostBytes` says so to whoever conflicts
// with such accesses and finds no race: neighbouring bytes that many waves read, as in a stencil, are no loss.
#ifndef WAVESAN_CORE_GLOBAL_DETECTOR_H
#define WAVESAN_CORE_GLOBAL_DETECTOR_H

#include "wavesan/abi/dispatch.h"
#include "wavesan/core/global_slot.h"

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wbitwise-instead-of-logical" // on purpose: branches cost more

namespace wavesan::core {

/// The lane that accesses. `bytes`: of the granule.
struct GlobalAccessor {
  uint32_t wave, generation, site, bytes;
  bool write, atomic, narrow;
  uint32_t waveBits, generationBits;
  constexpr GlobalSlot slot() const { return GlobalSlot(wave, generation, generationBits, site, bytes, write, narrow); }
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

/// Bits 0-1: GlobalOrder; bits 2-4: GlobalSide of what was found. Single bits in one word: lanes differ in them, and
/// each truth value of a wave would take scalar registers.
enum GlobalFlags : uint32_t {
  kFoundLost = 1u << 5,       ///< a side of plain accesses that it was compared with could not keep a record
  kFoundLostAtomic = 1u << 6, ///< the same of atomics
  kFirstBefore = 1u << 7,     ///< of the own side's records: it comes before
  kSecondBefore = 1u << 8,
  kLossOwn = 1u << 9,         ///< evictedOwn()
  kFoundLostBytes = 1u << 10, ///< a side that it conflicts with lost a record, and others do not stand for its bytes
};

// Platform concept:
//   uint64_t load(uint32_t slot)
//   bool compareExchange(uint32_t slot, uint64_t expected, uint64_t desired)
//   void publishBeforeLook()
//   GlobalOrder order(uint32_t wave, uint32_t generation)   // also of the own wave
//   uint32_t again(uint32_t)   // the same value, computed where it is used: code of waves keeps little over loops
//   void evictedOwn()          // the accessor's wave: its record was not kept, two of its workgroup stand for it

/// In bits, and so in few instructions: bytes, write and narrow of `want` are among those of `have`.
constexpr bool coversGlobal(GlobalSlot have, GlobalSlot want) {
  return (want.bits() & ~have.bits() & GlobalSlot::kConflicts) == 0;
}
/// The same but for the bytes.
constexpr bool sameAccess(GlobalSlot a, GlobalSlot b) {
  return ((a.bits() ^ b.bits()) & ~(GlobalSlot::kLost | GlobalSlot::kLostBytes | GlobalSlot::kBytes)) == 0;
}

/// What a record is to others, as the number of a bit: a plain write, a plain read, an atomic that reads only, one that
/// writes.
constexpr uint32_t kindOf(uint32_t side, GlobalSlot s) { return side == kAtomics ? 2u + s.write() : side >> 1; }

/// Kinds that an access conflicts with: bits 0-3 whoever it is, 8-11 of other workgroups as well, 16-19 of other
/// workgroups if the record is narrow. One word and no truth values: those would each take scalar registers in a wave.
struct GlobalConflicts {
  uint32_t bits;
  constexpr explicit GlobalConflicts(const GlobalAccessor &a)
      : bits(!a.atomic ? (a.write ? 15u : 9u)
                       : (1u | uint32_t(a.write) << 1) |
                             (8u | uint32_t(a.write) << 2) * (0x10000u | uint32_t(a.narrow) << 8)) {}
  constexpr uint32_t any(uint32_t kind) const { return bits >> kind & 1u; } ///< 0 or 1
  constexpr bool with(uint32_t kind, GlobalSlot s, bool sameWorkgroup) const {
    const uint32_t other = bits >> 8 | (s.narrow() ? bits >> 16 : 0u);
    return ((bits | (sameWorkgroup ? 0u : other)) >> kind & 1u) != 0;
  }
};

/// GlobalSlot::kLostBytes unless other records stand for the bytes of the lost one.
constexpr uint64_t lostBytes(bool stoodFor) { return stoodFor ? 0 : GlobalSlot::kLostBytes; }

/// One row of the table above: the slot of the own side to write, 2 for none; what to write; and losses in `flags`.
constexpr uint32_t chooseGlobal(GlobalSlot s0, GlobalSlot s1, const GlobalAccessor &a, uint64_t &desired,
                                uint32_t &flags) {
  const GlobalSlot want = a.slot();
  const uint32_t group = a.wave >> a.waveBits;
  desired = want.bits();
  const bool known0 = (s0.who() == want.who()) & coversGlobal(s0, want),
             known1 = (s1.who() == want.who()) & coversGlobal(s1, want);
  if (known0 | known1)
    return 2;
  const bool covered0 = coversGlobal(want, s0), covered1 = coversGlobal(want, s1);
  if (!s0.empty() & ((flags & kFirstBefore) != 0) & covered0)
    return 0;
  if (!s1.empty() & ((flags & kSecondBefore) != 0) & covered1)
    return 1;
  const bool join0 = sameAccess(s0, want), join1 = sameAccess(s1, want);
  if (join0 | join1) {
    desired |= join0 ? s0.bits() : s1.bits();
    return join0 ? 0 : 1;
  }
  if (s0.empty())
    return 0;
  if (s1.empty())
    return 1;
  desired |= GlobalSlot::kLost;
  if (covered0 & !coversGlobal(s0, want))
    return 0;
  if (covered1 & !coversGlobal(s1, want))
    return 1;
  const uint32_t wave0 = s0.wave(a.generationBits), wave1 = s1.wave(a.generationBits);
  const uint32_t group0 = wave0 >> a.waveBits;
  if ((group0 == wave1 >> a.waveBits) & (group != group0)) {
    desired |= lostBytes(coversGlobal(s0, s1));
    return 1;
  }
  desired = s0.bits() | GlobalSlot::kLost;
  desired |= lostBytes(coversGlobal(s0, want) & coversGlobal(s1, want) & (wave0 != wave1));
  flags |= group0 == group ? kLossOwn : 0u;
  return desired == s0.bits() ? 2 : 0; // nothing is left to do once the loss has been noted
}

/// Records the access and compares it with the others.
template <class Platform> inline GlobalFinding checkGlobalGranule(Platform &p, const GlobalAccessor &of) {
  const uint32_t own = of.side();
  const uint32_t group = of.wave >> of.waveBits;
  const GlobalConflicts kinds(of);
  uint32_t losses = 0;
  for (;;) {
    GlobalFinding found;
    uint64_t mine0 = 0, mine1 = 0;
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < abi::kGlobalSlots; ++i) {
      const uint32_t side = i & ~1u;
      const uint64_t bits = p.load(i);
      const GlobalSlot s(bits);
      if (s.empty())
        continue;
      const uint32_t wave = s.wave(of.generationBits);
      const bool conflicts = (wave != of.wave) & ((s.bytes() & of.bytes) != 0) &
                             kinds.with(kindOf(side, s), s, wave >> of.waveBits == group);
      GlobalOrder order = GlobalOrder::Before;
      if (conflicts || side == own)
        order = p.order(wave, s.generation(of.generationBits));
      if (side == own) {
        (i & 1 ? mine1 : mine0) = bits;
        if (order == GlobalOrder::Before)
          found.flags |= i & 1 ? kSecondBefore : kFirstBefore;
      }
      // A side whose records cannot conflict with this access has lost nothing that could.
      found.flags |= uint32_t(bits >> 63) * kinds.any(side == kAtomics ? 3u : side >> 1) << (side == kAtomics ? 6 : 5);
      // Of atomics that have lost bytes: any, since scopes matter between atomics.
      found.flags |= uint32_t(bits >> kGlobalWhoBits) & (kinds.any(side >> 1) | side >> 2) ? kFoundLostBytes : 0u;
      if (conflicts && order != GlobalOrder::Before &&
          (found.previous == 0 || (found.order() == GlobalOrder::Unknown && order != GlobalOrder::Unknown))) {
        found.previous = bits;
        found.flags = (found.flags & ~31u) | uint32_t(order) | side << 2;
      }
    }
    uint64_t desired;
    uint32_t flags = found.flags;
    GlobalAccessor a = of;
    a.generation = p.again(of.generation);
    a.site = p.again(of.site);
    const uint32_t choice = chooseGlobal(GlobalSlot(mine0), GlobalSlot(mine1), a, desired, flags);
    if (choice != 2) {
      const uint64_t expected = choice == 0 ? mine0 : mine1;
      // A failure means that another publication succeeded. A loss that was noted stays noted.
      if (p.compareExchange(own + choice, expected,
                            desired | (expected & (GlobalSlot::kLost | GlobalSlot::kLostBytes))))
        losses |= flags;
      p.publishBeforeLook();
      continue;
    }
    if ((losses | flags) & kLossOwn)
      p.evictedOwn();
    return found;
  }
}

/// Of an access that found no race: GlobalFlags that say it may have missed one. `row`: not 0 if its wave has acquired
/// something.
constexpr uint32_t lossesThatCount(uint32_t row) {
  return kFoundLostBytes | (row != 0 ? kFoundLost | kFoundLostAtomic : 0u);
}

/// The last block resets its ticket: who has acquired all atomic writes of a location comes behind them. Does it
/// matter?
constexpr bool restsOnAtomics(const GlobalFinding &found, const GlobalAccessor &a) {
  return !a.atomic && ((found.flags & kFoundLostAtomic) != 0 || (found.previous != 0 && found.side() == kAtomics));
}
/// It does, and it is so.
constexpr void forgetAtomics(GlobalFinding &found) {
  found.flags &= ~uint32_t(kFoundLostAtomic);
  if (found.side() == kAtomics)
    found.previous = 0;
}

} // namespace wavesan::core

#pragma clang diagnostic pop

#endif // WAVESAN_CORE_GLOBAL_DETECTOR_H
