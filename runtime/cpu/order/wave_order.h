// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Happens-before inside one dispatch: what fences, barriers and atomics do to the clocks of waves. No shadow, no
// reports.
#ifndef WAVESAN_CPU_ORDER_WAVE_ORDER_H
#define WAVESAN_CPU_ORDER_WAVE_ORDER_H

#include "copy_queue.h"
#include "lds_queue.h"
#include "pending_reads.h"

#include <vector>

namespace wavesan::cpu {

/// One wave. Used by one thread at a time.
struct WaveOrder {
  WaveId id{};
  uint32_t generation[kCopies] = {1, 1};    ///< of kLds and kGlobal
  uint32_t completeBelow[kCopies] = {1, 1}; ///< accesses of older generations are complete
  uint32_t wideBelow[kCopies] = {1, 1};     ///< the same if the scopes of all fences sufficed
  LdsQueue ldsQueue;                        ///< for waits that count LDS instructions
  CopyQueue copies;
  uint64_t gridPhase = 0; ///< barriers of the whole grid that it has arrived at
  WaveClock clock; ///< by the rules
  WaveClock wide;  ///< if all scopes sufficed: only for telling "scope too small" from "no synchronisation"

  PendingReads pending;
  /// Locations whose current version a relaxed atomic has read since the last acquire fence of agent scope: the last
  /// few.
  struct SeenVersion {
    uint64_t key, version;
  };
  std::vector<SeenVersion> seen;
  size_t nextSeen = 0;
  void sees(SeenVersion s) {
    constexpr size_t kMaxSeen = 64;
    if (seen.size() < kMaxSeen)
      seen.push_back(s);
    else
      seen[nextSeen++ % kMaxSeen] = s;
  }

  /// Set `to` to what the wave publishes of what it knows, and of what it would know if all scopes sufficed.
  void publishClock(WaveClock &to) const {
    to = clock;
    for (Space s : {kLds, kGlobal})
      to.local[boundIndex(s, id.wave)] = completeBelow[s];
  }
  void publishWide(WaveClock &to) const {
    to = wide;
    for (Space s : {kLds, kGlobal})
      to.local[boundIndex(s, id.wave)] = wideBelow[s];
  }
  bool knows(WaveId who, Space space, uint32_t g) const { return clock.knows(id, who, space, g); }
  bool wouldKnow(WaveId who, Space space, uint32_t g) const { return wide.knows(id, who, space, g); }

  uint64_t releases = 0; ///< published so far
  ReleasePtr publish() {
    auto r = ClockMemory::make<Release>(Release{id, ++releases, {}, {}});
    publishClock(r->clock);
    publishWide(r->wide);
    return r;
  }
  void acquireFrom(const Release &r, bool reached) {
    if (r.by == id)
      return;
    if (reached)
      acquire(clock, id.workgroup, r.by.workgroup, r.clock);
    acquire(wide, id.workgroup, r.by.workgroup, r.wide);
  }
  void acquireFrom(const ReleaseClock *workgroup, const ReleaseClock *agent, const ReleaseClock &any) {
    for (const ReleaseClock *c : {workgroup, agent})
      if (c)
        acquire(clock, id.workgroup, *c);
    acquire(wide, id.workgroup, any);
  }

  /// A fence instruction, or the fence that an ordered atomic implies. `info` as in abi/hooks.h.
  void fence(uint32_t info) {
    const uint32_t bits = abi::fenceBits(info);
    const abi::Scope scope = abi::fenceScope(info);
    if (!(bits & (abi::kFenceAcquire | abi::kFenceRelease | abi::kFenceSeqCst)))
      return;
    if (!reachesOtherWaves(scope)) {
      // Completes nothing, and orders nothing between waves. What it would order if its scope sufficed is known to the
      // wide clock.
      if (bits & abi::kFenceLds)
        wideBelow[kLds] = ++generation[kLds];
      if (bits & abi::kFenceGlobal)
        wideBelow[kGlobal] = ++generation[kGlobal];
    } else
      complete(bits & abi::kFenceLds, bits & abi::kFenceGlobal);
    if (bits & abi::kFenceImplied)
      return; // an ordered atomic publishes and acquires through its own location only
    // What a fence acquires is part of what it releases.
    if ((bits & (abi::kFenceAcquire | abi::kFenceSeqCst)) && !pending.empty())
      acquirePending(scope, bits);
    if (bits & (abi::kFenceRelease | abi::kFenceSeqCst))
      noteFence(scope, bits);
  }
  /// Call behind what may have completed copies: the wave knows of its own what it has waited for.
  void noteCopies() {
    for (WaveClock *c : {&clock, &wide})
      c->local[boundIndex(kCopies, id.wave)] = copies.completed() + 1;
  }
  /// A wait: completes without ordering anything between waves by itself.
  void complete(bool lds, bool global) {
    if (lds) {
      completeBelow[kLds] = wideBelow[kLds] = ++generation[kLds];
      ldsQueue.clear();
    }
    if (global)
      completeBelow[kGlobal] = wideBelow[kGlobal] = ++generation[kGlobal];
  }
  /// An LDS instruction has been recorded in the current generation, where waits count such instructions.
  void ldsIssued(LdsQueue::Kind kind, uint32_t size) { ldsQueue.issued(generation[kLds]++, kind, size); }
  void ldsContinued() { ldsQueue.continued(generation[kLds]++); }
  /// A wait until at most `count` LDS instructions are under way. Returns the number of those whose completion is
  /// unknown; they count as complete.
  uint32_t waitForLds(uint32_t count) {
    const LdsQueue::Waited done = ldsQueue.wait(count);
    completeBelow[kLds] = std::max(completeBelow[kLds], done.completeBelow);
    wideBelow[kLds] = std::max(wideBelow[kLds], done.completeBelow);
    return done.unknown;
  }

  /// The reading half of an atomic. Call before write() of the same operation.
  void atomicRead(const SyncVariable *v, abi::Scope scope, bool acquires) {
    if (!v || v->empty())
      return;
    if (!acquires) {
      pending.add(*v, id.workgroup, scope);
      return;
    }
    for (const CarriedRelease &c : v->recent())
      acquireFrom(*c.release, c.reaches(id.workgroup, scope));
    if (v->hasOlder()) {
      const JoinedReleases older = v->older(id.workgroup);
      acquireFrom(reachesOtherWaves(scope) ? &older.workgroup : nullptr,
                  reachesOtherWorkgroups(scope) ? &older.agent : nullptr, older.any);
    }
  }
  /// The writing half. `readsToo`: a read-modify-write, which continues the release sequence it reads from.
  void atomicWrite(SyncVariable &v, abi::Scope scope, bool isRelease, bool readsToo) {
    if (!readsToo)
      v.clear();
    if (isRelease) {
      v.release({publish(), scope});
      return;
    }
    for (const CarriedRelease *f : {lastFence(), wideFence(), narrowFence()})
      if (f)
        if (const abi::Scope s = narrower(scope, f->scope); !v.carries(f->release.get(), s))
          v.release({f->release, s});
  }

  /// Has a release fence published something?
  bool hasFence() const { return FenceIsDraft || FenceRelease.release || NarrowFenceRelease.release; }

private:
  static constexpr uint32_t kAllSpaces = abi::kFenceLds | abi::kFenceGlobal;
  /// Of a fence that is limited to one address space: `to` gets back what it held of the other one.
  static void keepOther(uint32_t bits, WaveClock &to, const WaveClock &before) {
    for (uint32_t w = 0; w < abi::kMaxWavesPerWorkgroup; ++w) {
      if (!(bits & abi::kFenceLds))
        for (Space s : {kLds, kCopies})
          to.local[boundIndex(s, w)] = before.local[boundIndex(s, w)];
      if (!(bits & abi::kFenceGlobal))
        to.local[boundIndex(kGlobal, w)] = before.local[boundIndex(kGlobal, w)];
    }
    if (!(bits & abi::kFenceGlobal)) // nobody reaches another workgroup's LDS
      to.others = before.others;
  }
  void acquirePending(abi::Scope scope, uint32_t bits) {
    const bool limited = (bits & kAllSpaces) != kAllSpaces;
    WaveClock before;
    if (limited)
      before = clock;
    pending.acquire(
        id.workgroup, scope, limited, [&](const Release &r, bool reached) { acquireFrom(r, reached); },
        [&](const ReleaseClock *workgroup, const ReleaseClock *agent, const ReleaseClock &any) {
          acquireFrom(workgroup, agent, any);
        });
    if (limited)
      keepOther(bits, clock, before);
  }

  // What release fences published: the last one that reaches other waves, the last one that reaches other workgroups,
  // and the last one that reaches nobody. A narrower fence does not take back what a wider one before it released. Every barrier of the language has a fence,
  // and few of them are followed by an atomic that would carry it anywhere: it is a draft until one does.
  void noteFence(abi::Scope scope, uint32_t bits) {
    if (!reachesOtherWaves(scope)) {
      NarrowFenceRelease = {publish(), scope};
      return;
    }
    Draft.limited = (bits & kAllSpaces) != kAllSpaces;
    if (Draft.limited) {
      // What it publishes contains what the fences before it did, as far as they reach.
      if (reachesOtherWorkgroups(scope)) {
        Release r{id, ++releases, {}, {}, true};
        publishClock(r.clock);
        keepOther(bits, r.clock, WideFenceRelease.release ? WideFenceRelease.release->clock : WaveClock{});
        publishWide(r.wide);
        WideFenceRelease = {ClockMemory::make<const Release>(r), scope};
        scope = abi::Scope::Workgroup;
      }
      const WaveClock before = Draft.clock;
      publishClock(Draft.clock);
      keepOther(bits, Draft.clock, before);
    } else {
      publishClock(Draft.clock);
    }
    Draft.number = ++releases;
    publishWide(Draft.wide);
    FenceRelease.scope = scope;
    FenceIsDraft = true;
    if (reachesOtherWorkgroups(scope))
      WideFenceRelease = *lastFence();
  }
  /// Null: none yet.
  const CarriedRelease *lastFence() {
    if (FenceIsDraft) {
      Draft.by = id;
      FenceRelease.release = ClockMemory::make<const Release>(Draft);
      FenceIsDraft = false;
    }
    return FenceRelease.release ? &FenceRelease : nullptr;
  }
  const CarriedRelease *wideFence() const { return WideFenceRelease.release ? &WideFenceRelease : nullptr; }

  const CarriedRelease *narrowFence() const { return NarrowFenceRelease.release ? &NarrowFenceRelease : nullptr; }

  CarriedRelease FenceRelease, WideFenceRelease, NarrowFenceRelease;
  Release Draft{}; ///< what FenceRelease.release will be
  bool FenceIsDraft = false;
};

/// The waves of one workgroup and their barrier. Used by one thread at a time.
class WorkgroupOrder {
public:
  WorkgroupOrder(uint32_t workgroup, uint32_t waves) : Waves(waves), Arrivals(waves), Final(waves), Left(waves, 0) {
    for (uint32_t w = 0; w < waves; ++w)
      Waves[w].id = {workgroup, w};
  }
  WaveOrder &wave(uint32_t w) { return Waves[w]; }
  const WaveOrder &wave(uint32_t w) const { return Waves[w]; }

  void arrive(uint32_t w) {
    Pair &p = Arrivals[w].items.emplace_back();
    Waves[w].publishClock(p.real);
    Waves[w].publishWide(p.wide);
  }
  /// A wave leaves its next barrier, at which all waves that have not ended have arrived.
  void leave(uint32_t w) {
    const size_t barrier = Left[w]++;
    for (uint32_t other = 0; other < Waves.size(); ++other) {
      if (other == w)
        continue;
      const Pair *p = barrier < Arrivals[other].first + Arrivals[other].items.size() && barrier >= Arrivals[other].first
                          ? &Arrivals[other].items[barrier - Arrivals[other].first]
                      : Final[other].ended ? &Final[other].clocks
                                           : nullptr;
      if (!p)
        continue;
      join(Waves[w].clock, p->real);
      join(Waves[w].wide, p->wide);
    }
    forget();
  }
  /// The wave has ended: complete, and arrived at all later barriers.
  void end(uint32_t w) {
    Waves[w].complete(true, true);
    Final[w].ended = true;
    Waves[w].publishClock(Final[w].clocks.real);
    Waves[w].publishWide(Final[w].clocks.wide);
  }
  bool ended(uint32_t w) const { return Final[w].ended; }

private:
  struct Pair {
    WaveClock real, wide;
  };
  struct Queue {
    size_t first = 0; ///< barrier number of items[0]
    std::vector<Pair> items;
  };
  struct End {
    bool ended = false;
    Pair clocks;
  };
  void join(WaveClock &to, const WaveClock &from) const {
    raise(to.local, from.local, uint32_t(Waves.size()));
    to.others.join(from.others);
  }
  /// Drops arrivals that every running wave has left behind.
  void forget() {
    size_t least = SIZE_MAX;
    for (uint32_t w = 0; w < Waves.size(); ++w)
      if (!Final[w].ended)
        least = std::min(least, Left[w]);
    if (least == Forgotten)
      return;
    Forgotten = least;
    for (Queue &q : Arrivals)
      while (!q.items.empty() && q.first < least) {
        q.items.erase(q.items.begin());
        ++q.first;
      }
  }
  std::vector<WaveOrder> Waves;
  std::vector<Queue> Arrivals;
  std::vector<End> Final;
  std::vector<size_t> Left;
  size_t Forgotten = 0; ///< barriers that every running wave had left when forget() looked last
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_WAVE_ORDER_H
