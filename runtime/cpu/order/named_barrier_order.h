// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What named barriers order: whoever waits for a phase comes behind the signals and leaves that completed it, and
// behind nobody else. As with the workgroup's barrier, an access comes before a signal only once its wave has completed
// it.
#ifndef WAVESAN_CPU_ORDER_NAMED_BARRIER_ORDER_H
#define WAVESAN_CPU_ORDER_NAMED_BARRIER_ORDER_H

#include "wave_order.h"

#include <deque>
#include <map>

namespace wavesan::cpu {

/// Of one workgroup. Used by the thread that executes it.
class NamedBarrierOrder {
public:
  /// Phases of one barrier that are kept for waves that have not waited for them yet.
  static constexpr size_t kKept = 1024;

  /// A signal, or a leave, that counts for phase number `phase` (from 1 on). Begins a generation, so that accesses
  /// before and behind it are told apart.
  void arrive(WaveOrder &wave, uint32_t barrier, uint64_t phase) {
    Queue &q = Barriers[barrier];
    while (q.first + q.phases.size() <= phase)
      q.phases.emplace_back();
    Phase &p = q.phases[phase - q.first];
    WaveClock published;
    wave.publishClock(published);
    join(p.real, published);
    wave.publishWide(published);
    join(p.wide, published);
    const Bounds &before = Issued[wave.id.wave];
    raise(p.issued, before);
    for (Space s : {kLds, kGlobal})
      p.issued[boundIndex(s, wave.id.wave)] = ++wave.generation[s];
    if (q.phases.size() > kKept) {
      q.phases.pop_front();
      ++q.first;
    }
  }
  /// The barrier is initialised: what has arrived for this phase does not count.
  void discard(uint32_t barrier, uint64_t phase) {
    Queue &q = Barriers[barrier];
    if (phase >= q.first && phase < q.first + q.phases.size())
      q.phases[phase - q.first] = Phase();
  }
  /// False if what has arrived for the phase is not known any more.
  bool wait(WaveOrder &wave, uint32_t barrier, uint64_t phase) {
    const Queue &q = Barriers[barrier];
    if (phase < q.first || phase >= q.first + q.phases.size())
      return false;
    const Phase &p = q.phases[phase - q.first];
    join(wave.clock, p.real);
    join(wave.wide, p.wide);
    raise(Issued[wave.id.wave], p.issued);
    return true;
  }

  /// Does a named barrier lie between an access of wave `who` and what wave `self` does now, complete or not?
  bool between(uint32_t self, uint32_t who, Space space, uint32_t generation) const {
    const auto found = Issued.find(self);
    return found != Issued.end() && generation < found->second[boundIndex(space, who)];
  }

private:
  struct Phase {
    WaveClock real, wide;
    Bounds issued{}; ///< generations that were begun, complete or not
  };
  struct Queue {
    uint64_t first = 1; ///< number of phases[0]
    std::deque<Phase> phases;
  };
  static void join(WaveClock &to, const WaveClock &from) {
    raise(to.local, from.local);
    to.others.join(from.others);
  }
  std::map<uint32_t, Queue> Barriers;
  std::map<uint32_t, Bounds> Issued; ///< by wave
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_NAMED_BARRIER_ORDER_H
