// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Synchronisation variables: what releases an atomic location carries at this moment of the execution.
//
// LLVM's memory model for AMDGPU: a release synchronises with an acquire that reads from it, or from the release sequence
// that it heads (read-modify-writes, of any order), if the scope of each side includes the other. A store that is no
// read-modify-write ends the sequence.
#ifndef WAVESAN_CPU_ORDER_SYNC_TABLE_H
#define WAVESAN_CPU_ORDER_SYNC_TABLE_H

#include "wave_clock.h"
#include "wavesan/abi/hooks.h"

#include <unordered_map>
#include <vector>

namespace wavesan::cpu {

/// Widest reach of a scope, as far as waves can tell: the own workgroup, or everybody. Cluster scope counts as
/// workgroup: targets without clusters treat it so.
constexpr bool reachesOtherWorkgroups(abi::Scope s) { return s >= abi::Scope::Agent; }
constexpr bool reachesOtherWaves(abi::Scope s) { return s >= abi::Scope::Workgroup; }
constexpr abi::Scope narrower(abi::Scope a, abi::Scope b) { return a < b ? a : b; }

class SyncVariable {
public:
  /// Ends the release sequence: a store that reads nothing.
  void clear() {
    ForAll = {};
    Any = {};
    ByWorkgroup.clear();
  }
  /// A release by a wave of `workgroup` with `scope`. `wide`: what it would publish if all scopes sufficed.
  void release(uint32_t workgroup, abi::Scope scope, const WaveClock &clock, const WaveClock &wide) {
    Any.add(workgroup, clock);
    Any.add(workgroup, wide);
    if (reachesOtherWaves(scope))
      ByWorkgroup[workgroup].add(workgroup, clock);
    if (reachesOtherWorkgroups(scope))
      ForAll.add(workgroup, clock);
  }
  /// What a read with `scope` in `workgroup` synchronises with, added to `out`.
  void visible(uint32_t workgroup, abi::Scope scope, ReleaseClock &out) const {
    if (!reachesOtherWaves(scope))
      return;
    if (auto it = ByWorkgroup.find(workgroup); it != ByWorkgroup.end())
      out.add(it->second);
    if (reachesOtherWorkgroups(scope))
      out.add(ForAll);
  }
  /// What it would synchronise with if all scopes sufficed.
  const ReleaseClock &any() const { return Any; }
  bool empty() const { return Any.empty(); }

  /// The location itself. An atomic stands behind the release fence that publishes for it, so no clock covers it; but a
  /// wave that read the last value and then acquired has seen every write to this location complete. A plain access of
  /// that wave, or of one that knows of its acquire, is ordered behind them all: the last block resets its ticket.
  void wrote() {
    ++Version;
    Acquirers.clear();
  }
  uint64_t version() const { return Version; }
  /// `label`: the acquiring wave's generation when it acquired the current version.
  void acquiredBy(WaveId who, uint32_t label) {
    if (Acquirers.size() < kMaxAcquirers)
      Acquirers.push_back({who, label});
  }
  /// Is what the wave does next ordered behind all atomic writes to this location so far?
  bool allWritesKnownTo(WaveId self, const WaveClock &clock) const {
    return std::any_of(Acquirers.begin(), Acquirers.end(), [&](const Acquirer &a) {
      return clock.knows(self, a.who, kGlobal, a.label);
    });
  }

private:
  struct Acquirer {
    WaveId who;
    uint32_t label;
  };
  static constexpr size_t kMaxAcquirers = 32; ///< more spinning readers than this only cost precision, never a race
  uint64_t Version = 0;
  std::vector<Acquirer> Acquirers;
  ReleaseClock ForAll, Any;
  std::unordered_map<uint32_t, ReleaseClock> ByWorkgroup;
};

/// Keyed by address: global addresses, or (workgroup, LDS offset) folded by the caller. Not thread-safe. `limit`
/// bounds the number of variables; beyond it lookups fail and the caller counts "order unknown".
class SyncTable {
public:
  explicit SyncTable(size_t limit = size_t(1) << 20) : Limit(limit) {}
  /// Null if the location carries nothing.
  SyncVariable *find(uint64_t key) {
    auto it = Variables.find(key);
    return it == Variables.end() ? nullptr : &it->second;
  }
  bool empty() const { return Variables.empty(); }
  /// Null if the table is full.
  SyncVariable *get(uint64_t key) {
    auto it = Variables.find(key);
    if (it != Variables.end())
      return &it->second;
    return Variables.size() >= Limit ? nullptr : &Variables[key];
  }

private:
  std::unordered_map<uint64_t, SyncVariable> Variables;
  size_t Limit;
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_SYNC_TABLE_H
