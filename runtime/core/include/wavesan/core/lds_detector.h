// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The LDS race detector: what one lane does for one granule. Freestanding, no globals, no allocation; everything
// outside goes through the Platform. The device runtime and the CPU agent instantiate the same code.
//
// The rule (DESIGN.md, "What a race is", for LDS inside a workgroup)
// -----------------------------------------------------------------
// A wave's own accesses are ordered. Between waves, an access A of wave w comes before an access B of another wave
// iff w completed A (by a fence or a wait), then arrived at a barrier, and the other wave left that barrier before
// B. So an access lives through three states:
//
//   ACTIVE         its wave has not fenced since                    conflicts with every other wave's access
//   WAVE_COMPLETE  fenced, no barrier since                         conflicts with every other wave's access
//   RETIRED        fenced, and a barrier after that fence           conflicts with nothing
//
// A wave counts its completing fences: its *generation* g. A slot stores the generation of its access. When the wave
// arrives at a barrier it publishes its current generation as the barrier generation B(w) of the epoch that begins
// behind the barrier. A wave that looks at a slot from that epoch then knows everything from one comparison:
//
//   slot.generation <  B(w)   a fence came between the access and the barrier: RETIRED
//   slot.generation >= B(w)   no fence before the barrier, or no barrier since: live
//
// No clearing at a barrier, no epoch compare, and a bare s_barrier (no fence) keeps its accesses live by itself. A
// wave that ended publishes no more generations; its accesses are complete then and die with its epoch.
//
// What a side keeps
// -----------------
// For "is there a live conflicting access of another wave" two records of two different waves are enough per side,
// however many waves read or add: whoever comes next differs from at least one of them. A plain access covers an
// atomic one of the same wave and generation (its conflicts are a superset), a later one covers an earlier one.
//
//   side's two slots                   new access of wave z            action
//   own slot, same generation, covers  any                             nothing to do (the common case)
//   own slot that the new one covers   any                             replace
//   an empty or retired slot           any                             take it
//   a slot that comes before it        covers                          take it (atomics order waves one by one)
//   two live slots of other waves      plain, one of them atomic       take the atomic one's place
//   two live slots of other waves      else                            not recorded
//
// The last two rows lose a record of wave x. While all waves fence before they arrive that loses no verdict: the
// slots that stand for the lost record live as long as it would. Only if x arrives at a barrier without a fence since
// then would the lost record outlive them. That case is counted (evictedGeneration, historyOverflow) and printed.
//
// Why no pair is missed
// ---------------------
// Publish, then look: an access first makes sure a slot of its side holds it (or two live others), then loads all
// four slots. Slots are changed by compare-and-swap only. With publications and looks in one total order (LDS
// executes them in one; the Platform's publishBeforeLook() makes it so elsewhere), of two simultaneous conflicting
// accesses the later publication is followed by a look that sees the earlier one. docs/algorithm.md has the argument in
// full.
#ifndef WAVESAN_CORE_LDS_DETECTOR_H
#define WAVESAN_CORE_LDS_DETECTOR_H

#include "wavesan/core/cell.h"

namespace wavesan::core {

/// The lane that accesses. generation and epoch are the wave's, read from its WaveRecord; generation counts from 1.
struct Accessor {
  uint32_t wave, lane, site, generation, epoch;
  bool write, atomic;
  /// Copies of its own wave come before it: the compiler sees both, and waits.
  bool afterOwnCopies = false;
  constexpr Slot slot() const { return Slot(wave, lane, site, generation, epoch, atomic); }
};

/// A conflict found by a look: the slot says who came earlier.
struct Conflict {
  Slot previous;
  bool previousWrites;
  abi::RaceClass raceClass;
};

// Platform concept (all by value, called by one lane):
//   uint64_t load(uint32_t cell, uint32_t slot)
//   bool compareExchange(uint32_t cell, uint32_t slot, uint64_t &expected, uint64_t desired)  // updates expected
//   void publishBeforeLook()
//   uint32_t barrierGeneration(uint32_t epoch, uint32_t wave)  // 0 before the first barrier
//   uint32_t endEpoch(uint32_t wave)                           // WaveRecord::endEpoch
//   void evicted(uint32_t wave, uint32_t generation)           // raises WaveRecord::evictedGeneration above it
//   void conflict(uint32_t cell, const Conflict &)
//   static constexpr bool kKnowsCopies                         // optional: agents may be copies (cell.h, copiesOf)
//   bool comesBefore(Slot)                                     // optional: atomics order it before the accessor
//
// Copies. An asynchronous copy of wave w is an access of another agent, copiesOf(w): it comes behind everything that w
// did before (and behind w's earlier copies, which complete in order), so those are no conflict for it. Its generation
// is its number among the copies of w, and the barrier generation of copiesOf(w) says which of them are complete: for w
// those that it has waited for, for others those that it had waited for when a barrier brought them together. In the
// table w and copiesOf(w) count as one wave, because there is an accessor, the copies, that conflicts with neither.

template <class Platform> constexpr bool knowsCopies() {
  if constexpr (requires { Platform::kKnowsCopies; })
    return Platform::kKnowsCopies;
  return false;
}

/// True while no barrier has brought the access before the accessor. For the accessor's own wave: while no barrier has
/// brought it before everybody else.
template <class Platform> inline bool isLive(Platform &p, Slot s, const Accessor &a) {
  if (s.generation() < p.barrierGeneration(a.epoch, s.wave()))
    return false;
  uint32_t end = p.endEpoch(s.wave());
  return end == 0 || a.epoch < end;
}

/// Does it come before the accessor for another reason than a barrier? Then it may be unordered with other waves, and
/// only an access that covers it may take its place: whoever is unordered with the record is so with that access.
template <class Platform> inline bool comesBefore(Platform &p, Slot s) {
  if constexpr (requires { p.comesBefore(s); })
    return p.comesBefore(s);
  return false;
}

/// Are the accesses of `who` always before those of `a`? Its own, for copies those of their wave, and for a wave those
/// copies that the compiler waits for.
template <class Platform> constexpr bool ordered(uint32_t who, const Accessor &a) {
  if constexpr (knowsCopies<Platform>())
    return who == a.wave || (isCopies(a.wave) && who == waveOf(a.wave)) ||
           (a.afterOwnCopies && who == copiesOf(a.wave));
  return who == a.wave;
}
template <class Platform> constexpr bool sameWave(uint32_t a, uint32_t b) {
  if constexpr (knowsCopies<Platform>())
    return waveOf(a) == waveOf(b);
  return a == b;
}

/// True if `have` makes recording `want` of the same wave unnecessary, now and later.
constexpr bool covers(Slot have, Slot want) {
  return have.generation() == want.generation() && (!have.atomic() || want.atomic());
}

namespace detail {
enum class Choice : uint32_t { Slot0 = 0, Slot1 = 1, Nothing = 2 };

/// One row of the table above. `slots` are the two of the accessor's side.
template <class Platform>
inline Choice chooseSlot(Platform &p, const uint64_t (&slots)[2], const Accessor &a, Slot &lost) {
  const Slot want = a.slot();
  Slot s[2] = {Slot(slots[0]), Slot(slots[1])};
  for (uint32_t i = 0; i < 2; ++i)
    if (!s[i].empty() && s[i].wave() == a.wave && covers(s[i], want))
      return Choice::Nothing;
  // The accessor's generation is the newest of its wave, so a plain access covers all older ones of the wave.
  for (uint32_t i = 0; i < 2; ++i)
    if (!s[i].empty() && s[i].wave() == a.wave && (!a.atomic || s[i].atomic()))
      return Choice(i);
  for (uint32_t i = 0; i < 2; ++i)
    if (s[i].empty() || !isLive(p, s[i], a) || // the own wave's retired records too
        ((!a.atomic || s[i].atomic()) && comesBefore(p, s[i])))
      return Choice(i);
  // Both slots hold something that may still matter.
  for (uint32_t i = 0; i < 2; ++i) {
    // A second record of one wave gives way to another wave: two different waves must stand.
    bool second = s[0].wave() == s[1].wave() && s[0].wave() != a.wave && s[i].atomic();
    if (second || (!a.atomic && s[i].atomic() && s[i].wave() != a.wave)) {
      lost = s[i];
      return Choice(i);
    }
  }
  if (s[0].wave() == s[1].wave()) {
    lost = s[0].generation() < s[1].generation() ? s[0] : s[1];
    return s[0].generation() < s[1].generation() ? Choice::Slot0 : Choice::Slot1;
  }
  if (sameWave<Platform>(s[0].wave(), s[1].wave()) && !sameWave<Platform>(s[0].wave(), a.wave)) {
    // A wave and its copies: its own record gives way.
    const uint32_t i = isCopies(s[0].wave()) ? 1 : 0;
    lost = s[i];
    return Choice(i);
  }
  lost = want;
  return Choice::Nothing;
}
} // namespace detail

/// Step 1: makes the access visible to every later look of another wave.
template <class Platform> inline void publish(Platform &p, uint32_t cell, const Accessor &a) {
  const uint32_t side = a.write ? kWriterSlots : kReaderSlots;
  uint64_t slots[2] = {p.load(cell, side), p.load(cell, side + 1)};
  for (;;) {
    Slot lost;
    detail::Choice c = detail::chooseSlot(p, slots, a, lost);
    if (c != detail::Choice::Nothing) {
      const uint32_t i = uint32_t(c);
      uint64_t expected = slots[i];
      // Every failure means that another lane's publication succeeded: the group makes progress, and a lane of the
      // same wave that lost finds itself covered.
      if (!p.compareExchange(cell, side + i, expected, a.slot().bits())) {
        slots[i] = expected;
        slots[1 - i] = p.load(cell, side + 1 - i);
        continue;
      }
    }
    if (!lost.empty())
      p.evicted(lost.wave(), lost.generation());
    return;
  }
}

/// Step 2: finds the live accesses of other waves that conflict with this one.
template <class Platform> inline void look(Platform &p, uint32_t cell, const Accessor &a) {
  for (uint32_t i = 0; i < kSlotsPerCell; ++i) {
    const bool writer = i < kReaderSlots;
    if (!writer && !a.write)
      continue;
    const Slot s(p.load(cell, i));
    if (s.empty() || ordered<Platform>(s.wave(), a) || !conflicting(writer, s.atomic(), a.write, a.atomic) ||
        !isLive(p, s, a) || comesBefore(p, s))
      continue;
    p.conflict(cell, {s, writer,
                      s.epochLow() == Slot::epochLowOf(a.epoch) ? abi::RaceClass::Race : abi::RaceClass::MissingFence});
  }
}

/// Checks one granule for one lane.
template <class Platform> inline void checkGranule(Platform &p, uint32_t cell, const Accessor &a) {
  publish(p, cell, a);
  p.publishBeforeLook();
  look(p, cell, a);
}

} // namespace wavesan::core

#endif // WAVESAN_CORE_LDS_DETECTOR_H
