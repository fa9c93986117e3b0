// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which commands touched which bytes, as far as a later command may still race with them.
//
// Memory is cut into segments whose bytes have the same accesses; a fill of a gigabyte is one segment. Accesses are put
// in in the order in which their commands were submitted. One stays until a later access covers it: one that its
// command happens before, and that conflicts with everything that it conflicts with.
#ifndef WAVESAN_STREAMS_ACCESS_HISTORY_H
#define WAVESAN_STREAMS_ACCESS_HISTORY_H

#include "wavesan/abi/hooks.h"

#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

namespace wavesan::streams {

/// What one part of a command did to some bytes. `Part` says whose access it is.
template <class Part> struct PartAccess {
  std::shared_ptr<const Part> part;
  uint32_t site = 0;
  uint8_t bits = 0;                      ///< abi::AccessBits
  abi::Scope scope = abi::Scope::System; ///< of an atomic
  bool host = false;                     ///< by the host: its atomics exclude a kernel's at system scope only
  bool operator==(const PartAccess &) const = default;
  bool write() const { return (bits & abi::kAccessWrite) != 0; }
  bool atomic() const { return (bits & abi::kAccessAtomic) != 0; }
};

/// Do two accesses of different commands conflict when nothing orders the commands?
template <class Part> bool conflicting(const PartAccess<Part> &a, const PartAccess<Part> &b) {
  if (!a.write() && !b.write())
    return false;
  const abi::Scope needed = a.host != b.host ? abi::Scope::System : abi::Scope::Agent;
  return !a.atomic() || !b.atomic() || a.scope < needed || b.scope < needed;
}

/// True if whatever conflicts with `old` conflicts with `fresh`, too.
template <class Part> bool covers(const PartAccess<Part> &fresh, const PartAccess<Part> &old) {
  if (old.write() && !fresh.write())
    return false;
  if (!fresh.atomic())
    return true;
  return old.atomic() && old.host == fresh.host && (old.scope >= fresh.scope || old.scope >= abi::Scope::Agent);
}

/// Not thread-safe. `maxBytes` bounds the memory (as it is estimated): accesses beyond it are not kept and counted.
template <class Part> class AccessHistory {
public:
  using Access = PartAccess<Part>;
  explicit AccessHistory(size_t maxBytes) : MaxBytes(maxBytes) {}

  /// Compares the access of the bytes [begin, end) with those of earlier commands and keeps it.
  /// `ordered(const Part &earlier)`: the new access's command follows that one, or is the same.
  /// `dead(const Part &)`: every later command follows that one.
  /// `onConflict(const Access &earlier, begin, end)`.
  template <class Ordered, class Dead, class OnConflict>
  void insert(uint64_t begin, uint64_t end, const Access &fresh, Ordered &&ordered, Dead &&dead,
              OnConflict &&onConflict) {
    if (begin >= end)
      return;
    split(begin);
    split(end);
    uint64_t at = begin;
    auto it = Segments.lower_bound(begin);
    while (at < end) {
      if (it == Segments.end() || it->first > at) { // a gap
        const uint64_t stop = it == Segments.end() ? end : std::min(end, it->first);
        if (hasRoom()) {
          it = std::next(addSegment(at, stop, {fresh}));
        } else {
          ++Lost;
        }
        at = stop;
        continue;
      }
      auto &[first, segment] = *it;
      std::vector<Access> &list = segment.accesses;
      const size_t before = list.size();
      for (size_t i = 0; i < list.size();) {
        const Access &old = list[i];
        const bool isDead = dead(*old.part);
        const bool isOrdered = isDead || ordered(*old.part);
        if (!isOrdered && conflicting(old, fresh))
          onConflict(old, first, segment.end);
        if (isDead || (isOrdered && covers(fresh, old))) {
          list[i] = std::move(list.back());
          list.pop_back();
        } else {
          ++i;
        }
      }
      if (list.size() < kMaxAccesses) {
        list.push_back(fresh);
      } else {
        list.front() = fresh; // the oldest, as a rule
        ++Lost;
      }
      account(ptrdiff_t(list.size()) - ptrdiff_t(before));
      at = segment.end;
      ++it;
    }
    merge(begin, end);
  }

  /// The bytes are new memory: what was done to them before concerns other memory.
  void clear(uint64_t begin, uint64_t end) {
    if (begin >= end)
      return;
    split(begin);
    split(end);
    for (auto it = Segments.lower_bound(begin); it != Segments.end() && it->first < end;)
      it = remove(it);
  }
  void clearAll() {
    Segments.clear();
    Used = 0;
  }
  /// Forgets the accesses of dead parts.
  template <class Dead> void retire(Dead &&dead) {
    for (auto it = Segments.begin(); it != Segments.end();) {
      std::vector<Access> &list = it->second.accesses;
      const size_t gone = std::erase_if(list, [&](const Access &a) { return dead(*a.part); });
      account(-ptrdiff_t(gone));
      it = list.empty() ? remove(it) : std::next(it);
    }
  }
  /// `visit(const Access &, begin, end)` of what is known of these bytes.
  template <class Visit> void look(uint64_t begin, uint64_t end, Visit &&visit) const {
    auto it = Segments.upper_bound(begin);
    if (it != Segments.begin())
      --it;
    for (; it != Segments.end() && it->first < end; ++it)
      if (it->second.end > begin)
        for (const Access &a : it->second.accesses)
          visit(a, std::max(begin, it->first), std::min(end, it->second.end));
  }

  size_t usedBytes() const { return Used; }
  size_t segmentCount() const { return Segments.size(); }
  /// Pieces of accesses that were not kept.
  uint64_t lost() const { return Lost; }

private:
  /// More concurrent accesses to the same bytes than this are not told apart.
  static constexpr size_t kMaxAccesses = 16;
  static constexpr size_t kSegmentBytes = 112, kAccessBytes = 2 * sizeof(Access);
  struct Segment {
    uint64_t end;
    std::vector<Access> accesses;
  };
  using Map = std::map<uint64_t, Segment>;

  bool hasRoom() const { return Used + kSegmentBytes + kAccessBytes <= MaxBytes; }
  void account(ptrdiff_t accesses) { Used += size_t(accesses * ptrdiff_t(kAccessBytes)); }
  typename Map::iterator addSegment(uint64_t begin, uint64_t end, std::vector<Access> accesses) {
    Used += kSegmentBytes;
    account(ptrdiff_t(accesses.size()));
    return Segments.insert_or_assign(begin, Segment{end, std::move(accesses)}).first;
  }
  typename Map::iterator remove(typename Map::iterator it) {
    Used -= kSegmentBytes;
    account(-ptrdiff_t(it->second.accesses.size()));
    return Segments.erase(it);
  }
  /// Makes `at` a border of segments.
  void split(uint64_t at) {
    auto it = Segments.upper_bound(at);
    if (it == Segments.begin())
      return;
    --it;
    if (it->first == at || it->second.end <= at)
      return;
    const uint64_t end = it->second.end;
    it->second.end = at;
    addSegment(at, end, it->second.accesses);
  }
  /// Joins neighbours that are alike, from the one in front of `begin` to the one at `end`.
  void merge(uint64_t begin, uint64_t end) {
    auto it = Segments.lower_bound(begin);
    if (it != Segments.begin())
      --it;
    while (it != Segments.end() && it->first < end) {
      auto next = std::next(it);
      if (next == Segments.end())
        return;
      if (it->second.end == next->first && it->second.accesses == next->second.accesses) {
        it->second.end = next->second.end;
        remove(next);
      } else {
        it = next;
      }
    }
  }

  const size_t MaxBytes;
  Map Segments; ///< by first byte
  size_t Used = 0;
  uint64_t Lost = 0;
};

} // namespace wavesan::streams

#endif // WAVESAN_STREAMS_ACCESS_HISTORY_H
