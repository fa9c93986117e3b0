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
  GlobalOrder order = GlobalOrder::Before;
  uint32_t side = 0; ///< of the previous access
  bool lost = false; ///< a side of plain accesses that it was compared with could not keep a record
  bool lostAtomic = false; ///< the same of atomics
};

// Platform concept:
//   uint64_t load(uint32_t slot)
//   bool compareExchange(uint32_t slot, uint64_t expected, uint64_t desired)
//   void publishBeforeLook()
//   GlobalOrder order(uint32_t wave, uint32_t generation)   // of another wave
//   bool locationKnown()          // every atomic write to the location so far comes before the accessor
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

/// Records the access and compares it with the others.
template <class Platform> inline GlobalFinding checkGlobalGranule(Platform &p, const GlobalAccessor &a) {
  const uint32_t own = a.side();
  const GlobalSlot want = a.slot();
  const uint32_t group = a.wave >> a.waveBits;
  bool hardLoss = false, softLoss = false;
  for (;;) {
    GlobalFinding found;
    uint64_t mine0 = 0, mine1 = 0;
    bool before0 = false, before1 = false;
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < abi::kGlobalSlots; ++i) {
      const uint32_t side = i & ~1u;
      if (side == kPlainReads && !a.write && own != kPlainReads)
        continue;
      const GlobalSlot s(p.load(i));
      if (s.empty())
        continue;
      const uint32_t wave = s.wave(a.generationBits);
      const bool conflicts = wave != a.wave && (s.bytes() & a.bytes) != 0 &&
                             conflictingGlobal(side, s, a, wave >> a.waveBits == group);
      GlobalOrder order = GlobalOrder::Before;
      if (wave != a.wave && (conflicts || side == own))
        order = p.order(wave, s.generation(a.generationBits));
      if (side == own) {
        (i & 1 ? mine1 : mine0) = s.bits();
        (i & 1 ? before1 : before0) = order == GlobalOrder::Before;
      }
      // A side whose records cannot conflict with this access has lost nothing that could.
      if (s.lost() && side == kAtomics)
        found.lostAtomic |= !a.atomic;
      else if (s.lost())
        found.lost |= side == kPlainWrites || a.write;
      if (conflicts && order != GlobalOrder::Before &&
          (found.previous == 0 || (found.order == GlobalOrder::Unknown && order != GlobalOrder::Unknown)))
        found.previous = s.bits(), found.order = order, found.side = side;
    }

    // The table above.
    const GlobalSlot s0(mine0), s1(mine1);
    const uint32_t wave0 = s0.wave(a.generationBits), wave1 = s1.wave(a.generationBits);
    const bool own0 = !s0.empty() && wave0 == a.wave, own1 = !s1.empty() && wave1 == a.wave;
    const bool covered0 = !s0.empty() && coversGlobal(want, s0), covered1 = !s1.empty() && coversGlobal(want, s1);
    uint64_t desired = want.bits();
    uint32_t choice = 2;
    bool hard = false, soft = false, ownLoss = false;
    if ((own0 && s0.who() == want.who() && coversGlobal(s0, want)) ||
        (own1 && s1.who() == want.who() && coversGlobal(s1, want))) {
      choice = 2;
    } else if (covered0 && before0) {
      choice = 0;
    } else if (covered1 && before1) {
      choice = 1;
    } else if (own0 && s0.who() == want.who() && s0.site() == a.site && s0.write() == a.write && s0.narrow() == a.narrow) {
      choice = 0, desired |= s0.bits();
    } else if (own1 && s1.who() == want.who() && s1.site() == a.site && s1.write() == a.write && s1.narrow() == a.narrow) {
      choice = 1, desired |= s1.bits();
    } else if (s0.empty()) {
      choice = 0;
    } else if (s1.empty()) {
      choice = 1;
    } else {
      const uint32_t group0 = wave0 >> a.waveBits, group1 = wave1 >> a.waveBits;
      const bool replace0 = covered0 && !coversGlobal(s0, want), replace1 = covered1 && !coversGlobal(s1, want);
      soft = true;
      if (replace0) {
        choice = 0;
      } else if (replace1) {
        choice = 1;
      } else if (group0 == group1 && group != group0) {
        choice = 1;
        hard = !coversGlobal(s0, s1);
      } else {
        hard = !(coversGlobal(s0, want) && coversGlobal(s1, want)) || wave0 == wave1;
        ownLoss = group0 == group;
        // Nothing is left to do once the loss has been noted.
        choice = s0.lost() ? 2 : 0;
        desired = s0.bits();
      }
      desired |= GlobalSlot::kLost;
    }
    if (choice != 2) {
      const uint64_t expected = choice == 0 ? mine0 : mine1;
      // A failure means that another publication succeeded. A loss that was noted stays noted.
      if (p.compareExchange(own + choice, expected, desired | (expected & GlobalSlot::kLost))) {
        hardLoss |= hard;
        softLoss |= soft && ownLoss;
        p.publishBeforeLook();
      }
      continue;
    }
    hardLoss |= hard;
    softLoss |= soft && ownLoss;
    if (softLoss)
      p.evictedOwn();
    if (hardLoss)
      p.notKept();
    // The last block resets its ticket: who has acquired all atomic writes comes behind them.
    if (!a.atomic && (found.lostAtomic || (found.previous != 0 && found.side == kAtomics)) && p.locationKnown()) {
      found.lostAtomic = false;
      if (found.side == kAtomics)
        found.previous = 0;
    }
    return found;
  }
}

} // namespace wavesan::core

#endif // WAVESAN_CORE_GLOBAL_DETECTOR_H
