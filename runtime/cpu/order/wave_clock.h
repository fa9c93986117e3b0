// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The clock of a wave, and the release clocks that atomics carry from one wave to another.
//
// A wave's accesses carry its generation (completing fences so far, from 1). "Wave z knows wave w up to bound B" means:
// accesses of w with a generation below B happen before what z does next. A release publishes the wave's own bound,
// which covers only what is complete, and all it knows.
#ifndef WAVESAN_CPU_ORDER_WAVE_CLOCK_H
#define WAVESAN_CPU_ORDER_WAVE_CLOCK_H

#include "knowledge.h"

namespace wavesan::cpu {

/// A wave in its dispatch.
struct WaveId {
  uint32_t workgroup; ///< linear workgroup number
  uint32_t wave;      ///< index in the workgroup
  bool operator==(const WaveId &) const = default;
};

/// What a wave knows. `local` are the waves of its own workgroup.
struct WaveClock {
  Bounds local{};
  Knowledge others;

  /// Does an access of `who` in `generation` happen before what the wave `self` with this clock does next?
  bool knows(WaveId self, WaveId who, Space space, uint32_t generation) const {
    if (who.workgroup == self.workgroup)
      return who.wave == self.wave || generation < local[boundIndex(space, who.wave)];
    const Bounds *b = others.find(who.workgroup);
    return b && generation < (*b)[boundIndex(space, who.wave)];
  }
};

/// Adds what another wave, one of `from`, knew: the acquiring side of one release.
inline void acquire(WaveClock &clock, uint32_t workgroup, uint32_t from, const WaveClock &known) {
  if (from == workgroup)
    raise(clock.local, known.local);
  else
    clock.others.add(from, known.local);
  if (const Bounds *own = known.others.find(workgroup))
    raise(clock.local, *own);
  clock.others.join(known.others);
}

/// Clocks released into one place by waves of any workgroups, joined.
struct ReleaseClock {
  Knowledge all;
  bool empty() const { return all.empty(); }
  void add(uint32_t workgroup, const WaveClock &clock) {
    all.join(clock.others);
    all.add(workgroup, clock.local);
  }
  void add(const ReleaseClock &other) { all.join(other.all); }
};

/// The acquiring side.
inline void acquire(WaveClock &clock, uint32_t workgroup, const ReleaseClock &from) {
  if (from.empty())
    return;
  if (const Bounds *own = from.all.find(workgroup))
    raise(clock.local, *own);
  clock.others.join(from.all);
}

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_WAVE_CLOCK_H
