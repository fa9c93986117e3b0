// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Synchronisation variables: what releases an atomic location carries at this moment of the execution.
//
// LLVM's memory model for AMDGPU: a release synchronises with an acquire that reads from it, or from the release
// sequence that it heads (read-modify-writes, of any order), if the scope of each side includes the other. A store that
// is no read-modify-write ends the sequence.
#ifndef WAVESAN_CPU_ORDER_SYNC_TABLE_H
#define WAVESAN_CPU_ORDER_SYNC_TABLE_H

#include "wave_clock.h"
#include "wavesan/abi/hooks.h"

#include <atomic>
#include <deque>
#include <unordered_map>
#include <vector>

namespace wavesan::cpu {

/// The property test also runs with limits so small that random programs reach them.
#ifdef WAVESAN_ORDER_SMALL_LIMITS
inline constexpr bool kSmallLimits = true;
#else
inline constexpr bool kSmallLimits = false;
#endif

/// Widest reach of a scope, as far as waves can tell: the own workgroup, or everybody. Cluster scope counts as
/// workgroup: targets without clusters treat it so.
constexpr bool reachesOtherWorkgroups(abi::Scope s) { return s >= abi::Scope::Agent; }
constexpr bool reachesOtherWaves(abi::Scope s) { return s >= abi::Scope::Workgroup; }
constexpr abi::Scope narrower(abi::Scope a, abi::Scope b) { return a < b ? a : b; }

/// What one release publishes. Immutable and shared by all locations that carry it.
struct Release {
  WaveId by;
  uint64_t number;       ///< of the wave's releases; a later one contains the earlier ones
  WaveClock clock, wide; ///< what its wave knew, and what it would have known if all scopes sufficed
  bool limited = false;  ///< of a fence for one address space: it contains earlier ones in that space only
};
using ReleasePtr = std::shared_ptr<const Release>;

/// A release as a location carries it, with the narrower of the scopes of fence and atomic.
struct CarriedRelease {
  ReleasePtr release; ///< null: none
  abi::Scope scope{};

  /// Does a read with `reader` scope in `workgroup` synchronise with it? The scope of each side must include the other.
  bool reaches(uint32_t workgroup, abi::Scope reader) const {
    const abi::Scope s = narrower(scope, reader);
    return release->by.workgroup == workgroup ? reachesOtherWaves(s) : reachesOtherWorkgroups(s);
  }
};

/// Many releases, joined: what a reader acquires, by the reach that it has.
struct JoinedReleases {
  ReleaseClock workgroup; ///< of releases in the reader's workgroup with a scope of workgroup or wider
  ReleaseClock agent;     ///< of releases with a scope of agent or wider
  ReleaseClock any;       ///< if all scopes sufficed
  bool empty() const { return any.empty(); }
  /// `reader`: the reader's workgroup.
  void add(uint32_t reader, const CarriedRelease &c) {
    const Release &r = *c.release;
    any.add(r.by.workgroup, r.wide); // contains r.clock
    if (r.by.workgroup == reader && reachesOtherWaves(c.scope))
      workgroup.add(r.by.workgroup, r.clock);
    if (reachesOtherWorkgroups(c.scope))
      agent.add(r.by.workgroup, r.clock);
  }
  void add(const JoinedReleases &other) {
    workgroup.add(other.workgroup);
    agent.add(other.agent);
    any.add(other.any);
  }
};

class SyncVariable {
public:
  /// Ends the release sequence: a store that reads nothing.
  void clear() {
    Recent.clear();
    ForAll = {};
    Any = {};
    ByWorkgroup.clear();
    Contents = 0;
  }
  /// As if new.
  void reset() {
    clear();
    Version = 0;
    Bytes = 0;
    Acquirers.clear();
    WidestRelease = abi::Scope::SingleThread;
  }
  /// True if release({this one, scope}) would change nothing.
  bool carries(const Release *release, abi::Scope scope) const {
    for (const CarriedRelease &have : Recent)
      if (have.release.get() == release && have.scope >= scope)
        return true;
    return false;
  }
  void release(const CarriedRelease &c) {
    WidestRelease = std::max(WidestRelease, c.scope);
    for (CarriedRelease &have : Recent) {
      if (have.release->by != c.release->by)
        continue;
      // A relaxed write may publish an older fence behind a newer release.
      if (have.release->number >= c.release->number && have.scope >= c.scope && !have.release->limited)
        return;
      if (have.release->number <= c.release->number && have.scope <= c.scope && !c.release->limited) {
        have = c;
        Contents = nextContents();
        return;
      }
    }
    if (Recent.size() == kMaxRecent) {
      for (size_t i = 0; i < kMaxRecent / 2; ++i)
        join(Recent[i]);
      Recent.erase(Recent.begin(), Recent.begin() + kMaxRecent / 2);
    }
    Recent.push_back(c);
    Contents = nextContents();
  }
  bool empty() const { return Contents == 0; }
  /// For whoever is not part of the dispatch: whether anything was published there with at least this scope.
  bool everReleased(abi::Scope scope) const { return WidestRelease >= scope; }
  /// Names what the location carries: equal numbers, equal releases, in all variables. 0: nothing.
  uint64_t contents() const { return Contents; }
  /// The releases that the location carries are these ...
  const std::vector<CarriedRelease> &recent() const { return Recent; }
  bool hasOlder() const { return !Any.empty(); }
  /// ... and older ones, for a reader in `workgroup`. Copies pointers, mostly.
  JoinedReleases older(uint32_t workgroup) const {
    JoinedReleases j{{}, ForAll, Any};
    if (auto it = ByWorkgroup.find(workgroup); it != ByWorkgroup.end())
      j.workgroup.add(workgroup, it->second);
    return j;
  }

  /// The location itself. An atomic stands behind the release fence that publishes for it, so no clock covers it; but a
  /// wave that read the last value and then acquired has seen every write to this location complete. A plain access of
  /// that wave, or of one that knows of its acquire, is ordered behind them all: the last block resets its ticket.
  void wrote() {
    ++Version;
    Acquirers.clear();
  }
  uint64_t version() const { return Version; }
  /// Of the widest atomic so far.
  uint32_t bytes() const { return Bytes; }
  void hasBytes(uint32_t bytes) { Bytes = std::max(Bytes, bytes); }
  /// `label`: the acquiring wave's generation when it acquired the current version.
  void acquiredBy(WaveId who, uint32_t label) {
    if (Acquirers.size() < kMaxAcquirers)
      Acquirers.push_back({who, label});
  }
  /// Is what the wave does next ordered behind all atomic writes to this location so far?
  bool allWritesKnownTo(WaveId self, const WaveClock &clock) const {
    return std::any_of(Acquirers.begin(), Acquirers.end(),
                       [&](const Acquirer &a) { return clock.knows(self, a.who, kGlobal, a.label); });
  }

private:
  struct Acquirer {
    WaveId who;
    uint32_t label;
  };
  static constexpr size_t kMaxAcquirers = 32; ///< more spinning readers than this only cost precision, never a race
  /// Releases kept apart. Most locations carry those of a few waves, and most readers know them by their pointer.
  static constexpr size_t kMaxRecent = kSmallLimits ? 2 : 8;
  static uint64_t nextContents() {
    static std::atomic<uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  void join(const CarriedRelease &c) {
    const Release &r = *c.release;
    Any.add(r.by.workgroup, r.wide); // contains r.clock
    if (reachesOtherWaves(c.scope)) {
      WaveClock &known = ByWorkgroup[r.by.workgroup];
      raise(known.local, r.clock.local);
      known.others.join(r.clock.others);
    }
    if (reachesOtherWorkgroups(c.scope))
      ForAll.add(r.by.workgroup, r.clock);
  }
  uint64_t Version = 0, Contents = 0;
  uint32_t Bytes = 0;
  abi::Scope WidestRelease = abi::Scope::SingleThread; ///< since reset()
  std::vector<Acquirer> Acquirers;
  std::vector<CarriedRelease> Recent;
  ReleaseClock ForAll, Any;
  /// What releases of workgroup scope or wider published, by their workgroups.
  std::unordered_map<uint32_t, WaveClock> ByWorkgroup;
};

/// Keyed by address: global addresses, or (workgroup, LDS offset) folded by the caller. Not thread-safe. `limit`
/// bounds the number of variables, `budget` (null: nothing) their memory; beyond them lookups fail and the caller counts
/// "order unknown".
class SyncTable {
public:
  explicit SyncTable(MemoryBudget *budget = nullptr, size_t limit = size_t(1) << 20) : Budget(budget), Limit(limit) {}
  SyncTable(const SyncTable &) = delete;
  SyncTable &operator=(const SyncTable &) = delete;
  ~SyncTable() {
    if (Budget)
      Budget->give(Taken);
  }
  /// Whether a release may be kept: what it publishes takes memory as well.
  bool hasRoom() const { return !Budget || Budget->hasRoomForOrder(); }
  /// Null if the location carries nothing. Pointers are valid until clear().
  SyncVariable *find(uint64_t key) {
    if (Used == 0)
      return nullptr;
    const Place &p = Places[placeOf(key)];
    return p.variable ? &Variables[p.variable - 1] : nullptr;
  }
  bool empty() const { return Used == 0; }
  /// `visit(key, const SyncVariable &)`
  template <class F> void forEach(F &&visit) const {
    for (const Place &p : Places)
      if (p.variable)
        visit(p.key, Variables[p.variable - 1]);
  }
  /// Null if the table is full.
  SyncVariable *get(uint64_t key) {
    if (SyncVariable *v = find(key))
      return v;
    if (Used >= Limit || !takeOne())
      return nullptr;
    if (2 * (Used + 1) > Places.size())
      grow();
    if (Used == Variables.size())
      Variables.emplace_back();
    Places[placeOf(key)] = {key, uint32_t(++Used)};
    return &Variables[Used - 1];
  }
  /// Forgets everything and keeps the memory.
  void clear() {
    if (Used == 0)
      return;
    for (size_t i = 0; i < Used; ++i)
      Variables[i].reset();
    Used = 0;
    std::fill(Places.begin(), Places.end(), Place{});
  }

private:
  /// Memory for one more variable and its places.
  bool takeOne() {
    if (!Budget || Used < Variables.size())
      return true;
    constexpr uint64_t kCost = sizeof(SyncVariable) + 6 * sizeof(Place); // a table that grows stands beside the old one
    if (!Budget->takeForOrder(kCost))
      return false;
    Taken += kCost;
    return true;
  }
  /// An open-addressed table with linear probing: atomics look up every lane's address.
  struct Place {
    uint64_t key = 0;
    uint32_t variable = 0; ///< index plus one; 0: free
  };
  /// Where the key is, or where it would be.
  size_t placeOf(uint64_t key) const {
    size_t at = size_t(key * 0x9e3779b97f4a7c15u >> 32) & (Places.size() - 1);
    while (Places[at].variable && Places[at].key != key)
      at = (at + 1) & (Places.size() - 1);
    return at;
  }
  void grow() {
    std::vector<Place> old(std::max<size_t>(64, 2 * Places.size()));
    old.swap(Places);
    for (const Place &p : old)
      if (p.variable)
        Places[placeOf(p.key)] = p;
  }
  std::vector<Place> Places; ///< a power of two, at most half of them taken
  std::deque<SyncVariable> Variables;
  size_t Used = 0; ///< variables
  MemoryBudget *Budget;
  uint64_t Taken = 0; ///< bytes of the budget
  size_t Limit;
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_SYNC_TABLE_H
