// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which lanes of one wave an access is ordered before.
//
// An access is known to some lanes: what they do next comes after it. Lanes that do something together share what they
// know: a meeting of lanes M makes an access known to all of M if one of M knew it. What counts as a meeting is the
// caller's rule. By the order of the hardware every instruction is one, for its active lanes: then all that is left
// unordered are divergent arms of a branch, until they join. By the language only synchronisation is one.
//
// Accesses that are known to the same lanes have the same future, so they share a *phase*. There are few: the sets of
// lanes that ran together since the wave was whole.
#ifndef WAVESAN_CPU_ORDER_LANE_ORDER_H
#define WAVESAN_CPU_ORDER_LANE_ORDER_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wavesan::cpu {

/// One wave. Used by one thread at a time.
class LaneOrder {
public:
  using Lanes = uint64_t;
  using Phase = uint32_t;

  /// Begins with these lanes and no accesses.
  void start(Lanes lanes) {
    All = lanes;
    Phases.clear();
    Open = 0;
  }
  /// The phase of accesses that these lanes know now, and nobody else.
  Phase phaseOf(Lanes known) {
    const Lanes unknown = All & ~known;
    // The latest first: an arm makes many accesses in a row.
    for (size_t i = Phases.size(); i-- > 0;)
      if (Phases[i].merged == i && Phases[i].unknown == unknown)
        return Phase(i);
    Phases.push_back({unknown, Phase(Phases.size())});
    Open += unknown != 0;
    return Phase(Phases.size() - 1);
  }
  /// Lanes that do not know the accesses of this phase.
  Lanes unknownTo(Phase phase) const { return Phases[find(phase)].unknown; }

  /// These lanes do something together.
  void meet(Lanes lanes) {
    if (Open == 0)
      return;
    for (size_t i = 0; i < Phases.size(); ++i) {
      Entry &p = Phases[i];
      if (p.merged != i || !p.unknown || !(lanes & p.unknown) || !(lanes & All & ~p.unknown))
        continue;
      p.unknown &= ~lanes;
      Open -= p.unknown == 0;
    }
    merge();
  }
  /// These lanes come behind everything that the wave did: they acquired something.
  void learnAll(Lanes lanes) {
    if (Open == 0)
      return;
    for (size_t i = 0; i < Phases.size(); ++i)
      if (Entry &p = Phases[i]; p.merged == i && p.unknown) {
        p.unknown &= ~lanes;
        Open -= p.unknown == 0;
      }
    merge();
  }
  /// Everything so far is known to all: what the caller keeps of it may be forgotten, with the phases.
  bool allKnown() const { return Open == 0; }
  void forget() { Phases.clear(); }
  size_t phases() const { return Phases.size(); }

private:
  struct Entry {
    Lanes unknown;
    Phase merged; ///< itself, or the phase that stands for it
  };
  Phase find(Phase p) const {
    while (Phases[p].merged != p)
      p = Phases[p].merged;
    return p;
  }
  void merge() {
    for (size_t i = 0; i < Phases.size(); ++i)
      for (size_t k = 0; Phases[i].merged == i && k < i; ++k)
        if (Phases[k].merged == k && Phases[k].unknown == Phases[i].unknown) {
          Phases[i].merged = Phase(k);
          Open -= Phases[i].unknown != 0;
        }
  }
  Lanes All = 0;
  std::vector<Entry> Phases;
  size_t Open = 0; ///< phases that stand for themselves and that some lane does not know
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_LANE_ORDER_H
