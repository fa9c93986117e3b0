// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference: happens-before with full vector clocks and full histories, for one workgroup's LDS. Host only, slow,
// and written from the rule instead of from the packed detector, so that the two can be held against each other.
//
// Each wave has a clock VC (one component per wave) and counts its own accesses in local time. `done` is the local time
// up to which its accesses are complete. At a barrier a wave publishes what it knows of the others, and of itself
// only what is complete; behind the barrier everybody knows the join. An access at local time t of wave w comes
// before an access of wave v iff v knows w up to t.
#ifndef WAVESAN_REFERENCE_VECTOR_CLOCK_DETECTOR_H
#define WAVESAN_REFERENCE_VECTOR_CLOCK_DETECTOR_H

#include <cstdint>
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace wavesan::reference {

struct AccessId {
  uint32_t wave, lane, site;
  auto operator<=>(const AccessId &) const = default;
};

/// An unordered pair of conflicting accesses; the smaller id first.
using RacePair = std::pair<AccessId, AccessId>;

/// Not thread-safe. Feed it the operations of all waves in any order that a machine could execute.
class VectorClockDetector {
public:
  explicit VectorClockDetector(uint32_t waves)
      : Clock(waves, Clocks(waves, 0)), Arrivals(waves), EndClock(waves), Left(waves, 0), Now(waves, 0), Done(waves, 0) {}

  void access(AccessId id, uint32_t address, uint32_t size, bool write, bool atomic) {
    uint64_t t = ++Now[id.wave];
    for (uint32_t byte = address; byte < address + size; ++byte) {
      for (const Past &p : History[byte]) {
        if (p.id.wave == id.wave || !(write || p.write) || (atomic && p.atomic) || p.time <= Clock[id.wave][p.id.wave])
          continue;
        RacyBytes.insert(byte);
        Pairs.insert(p.id < id ? RacePair{p.id, id} : RacePair{id, p.id});
      }
      History[byte].push_back({id, t, write, atomic});
    }
  }
  /// A fence or wait that completes the wave's accesses so far.
  void complete(uint32_t wave) { Done[wave] = Now[wave]; }
  void arrive(uint32_t wave) { Arrivals[wave].push_back(published(wave)); }
  /// The wave has ended: its accesses are complete, and it counts as arrived at every later barrier.
  void end(uint32_t wave) {
    complete(wave);
    EndClock[wave] = published(wave);
  }
  /// A wave leaves its next barrier, at which all waves that have not ended have arrived.
  void leave(uint32_t wave) {
    const size_t barrier = Left[wave]++;
    for (size_t other = 0; other < Clock.size(); ++other) {
      const Clocks &known = barrier < Arrivals[other].size() ? Arrivals[other][barrier] : EndClock[other];
      for (size_t c = 0; c < known.size(); ++c)
        if (c != wave)
          Clock[wave][c] = std::max(Clock[wave][c], known[c]);
    }
  }

  const std::set<uint32_t> &racyBytes() const { return RacyBytes; }
  const std::set<RacePair> &pairs() const { return Pairs; }

private:
  using Clocks = std::vector<uint64_t>;
  Clocks published(uint32_t wave) const {
    Clocks c = Clock[wave];
    c[wave] = Done[wave];
    return c;
  }
  struct Past {
    AccessId id;
    uint64_t time;
    bool write, atomic;
  };
  std::vector<Clocks> Clock;                 ///< what each wave knows of all
  std::vector<std::vector<Clocks>> Arrivals; ///< [wave][barrier]
  std::vector<Clocks> EndClock;              ///< [wave], empty while it runs
  std::vector<size_t> Left;
  std::vector<uint64_t> Now, Done;
  std::map<uint32_t, std::vector<Past>> History;
  std::set<uint32_t> RacyBytes;
  std::set<RacePair> Pairs;
};

} // namespace wavesan::reference

#endif // WAVESAN_REFERENCE_VECTOR_CLOCK_DETECTOR_H
