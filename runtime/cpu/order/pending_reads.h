// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the relaxed atomic reads of a wave have read, until an acquire fence turns it into knowledge.
//
// A histogram reads thousands of locations and acquires nothing, so noting a read must be cheap and may hold pointers
// only; the joins are left to the fence.
#ifndef WAVESAN_CPU_ORDER_PENDING_READS_H
#define WAVESAN_CPU_ORDER_PENDING_READS_H

#include "sync_table.h"

namespace wavesan::cpu {

/// Of one wave of `workgroup`, which is the same in all calls. Used by one thread at a time.
class PendingReads {
public:
  /// A read with `scope` of a location that carries something.
  void add(const SyncVariable &v, uint32_t workgroup, abi::Scope scope) {
    // What has been noted once waits here or has been acquired: reading it again adds nothing.
    if (Noted.empty())
      Noted.resize(kNoted);
    const uint64_t key = v.contents() << 4 | uint64_t(scope);
    uint64_t &noted = Noted[v.contents() % kNoted];
    if (noted == key)
      return;
    noted = key;
    for (const CarriedRelease &c : v.recent())
      add(c, workgroup, scope);
    if (v.hasOlder()) {
      JoinedReleases older = v.older(workgroup);
      if (Older.size() == kMaxEach) {
        for (const OlderRead &o : Older)
          sum(o.scope).add(o.from);
        Older.clear();
      }
      Older.push_back({std::move(older), scope});
    }
  }

  /// An acquire would find nothing.
  bool empty() const { return Single.empty() && Older.empty() && Sums.empty(); }

  /// Calls `release(const Release &, bool reached)` and `joined(const ReleaseClock *workgroup, *agent, any)` for all
  /// that a fence of `fence` scope acquires (reached, not null) or would acquire if all scopes sufficed. Forgets them,
  /// except what a fence of wider scope would acquire and this one does not; `keeps`: forgets nothing.
  template <class F, class G> void acquire(uint32_t workgroup, abi::Scope fence, bool keeps, F release, G joined) {
    std::erase_if(Single, [&](const Read &r) {
      const bool reached = r.from.reaches(workgroup, narrower(r.scope, fence));
      release(*r.from.release, reached);
      return !keeps && (reached || !r.from.reaches(workgroup, r.scope));
    });
    for (std::vector<OlderRead> *list : {&Older, &Sums})
      std::erase_if(*list, [&](const OlderRead &r) {
        const abi::Scope s = narrower(r.scope, fence);
        joined(reachesOtherWaves(s) ? &r.from.workgroup : nullptr, reachesOtherWorkgroups(s) ? &r.from.agent : nullptr,
               r.from.any);
        return !keeps && (reachesOtherWorkgroups(s) || !reachesOtherWorkgroups(r.scope));
      });
  }

private:
  struct Read {
    CarriedRelease from;
    abi::Scope scope; ///< of the read
  };
  struct OlderRead {
    JoinedReleases from;
    abi::Scope scope;
  };
  void add(const CarriedRelease &from, uint32_t workgroup, abi::Scope scope) {
    for (Read &r : Single)
      if (r.from.release == from.release) {
        // One entry with the wider of either scope would claim a reach that neither read had.
        if (r.from.scope >= from.scope && r.scope >= scope)
          return;
        if (r.from.scope <= from.scope && r.scope <= scope) {
          r = {from, scope};
          return;
        }
      }
    if (Single.size() == kMaxEach) {
      for (const Read &r : Single)
        sum(r.scope).add(workgroup, r.from);
      Single.clear();
    }
    Single.push_back({from, scope});
  }
  JoinedReleases &sum(abi::Scope scope) {
    for (OlderRead &s : Sums)
      if (s.scope == scope)
        return s.from;
    return Sums.emplace_back(OlderRead{{}, scope}).from;
  }
  static constexpr size_t kNoted = kSmallLimits ? 4 : 512, kMaxEach = kSmallLimits ? 2 : 64;
  std::vector<uint64_t> Noted; ///< contents and scope of recent reads, by contents
  std::vector<Read> Single;
  std::vector<OlderRead> Older, Sums; ///< Sums: one for each scope
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_PENDING_READS_H
