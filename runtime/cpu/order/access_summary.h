// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a dispatch touched, made of its shadow when it has ended: for the comparison with other commands, in which the
// waves of a dispatch do not matter.
#ifndef WAVESAN_CPU_ORDER_ACCESS_SUMMARY_H
#define WAVESAN_CPU_ORDER_ACCESS_SUMMARY_H

#include "memory_shadow.h"

#include "wavesan/abi/dispatch.h"
#include "wavesan/abi/stream_check.h"

#include <bit>
#include <tuple>
#include <utility>

namespace wavesan::cpu {

/// Takes the lines of a shadow in the order of their addresses. A plain write stands for everything else that was done
/// to its bytes, an atomic write for other atomics; of several sites the one with the lowest number speaks.
class AccessSummary {
public:
  /// `records`: of one line. `lostReads`, `lostAtomics`: bytes with accesses that have no record; `sites`: what is
  /// known of plain reads among them, and of reads whose records others have replaced.
  void line(uint64_t number, RecordList &records, uint64_t lostReads, uint64_t lostAtomics,
            std::span<const ReadSite> sites = {}) {
    uint64_t done[kKinds] = {};
    Sorted.clear();
    for (size_t i = 0; i < records.size(); ++i)
      Sorted.push_back(&records[i]);
    SiteRecords.clear();
    for (const ReadSite &s : sites) {
      AccessRecord &r = SiteRecords.emplace_back();
      r.site = s.site;
      r.mask = s.mask;
    }
    for (const AccessRecord &r : SiteRecords)
      Sorted.push_back(&r);
    std::sort(Sorted.begin(), Sorted.end(), [](auto *a, auto *b) { return orderOf(*a) < orderOf(*b); });
    for (size_t i = 0; i < Sorted.size();) {
      const AccessRecord &r = *Sorted[i];
      uint64_t all = 0; // of those that differ in nothing that is said
      for (; i < Sorted.size() && orderOf(*Sorted[i]) == orderOf(r); ++i)
        all |= Sorted[i]->mask;
      const Kind kind = kindOf(r);
      const uint64_t mask = all & ~covered(done, kind);
      done[kind] |= all;
      add(number, mask, {r.site, kind, r.atomic ? r.scope : abi::Scope::System});
    }
    // Their sites are those of others of the line, as a rule.
    if (const uint64_t mask = lostAtomics & ~covered(done, kAtomicWrite)) {
      done[kAtomicWrite] |= mask;
      add(number, mask, {siteOf(kAtomicWrite), kAtomicWrite, abi::Scope::Agent});
    }
    if (const uint64_t mask = lostReads & ~covered(done, kRead))
      add(number, mask, {siteOf(kRead), kRead, abi::Scope::System});
  }
  /// Everything so far. The summary is empty then.
  std::vector<abi::AccessRun> take() {
    for (Open &o : Runs)
      close(o);
    Runs.clear();
    return std::exchange(Closed, {});
  }

private:
  enum Kind : uint8_t { kWrite, kAtomicWrite, kRead, kAtomicRead };
  static constexpr unsigned kKinds = 4;
  static Kind kindOf(const AccessRecord &r) {
    return r.write ? (r.atomic ? kAtomicWrite : kWrite) : (r.atomic ? kAtomicRead : kRead);
  }
  static std::tuple<Kind, uint32_t, abi::Scope> orderOf(const AccessRecord &r) {
    return {kindOf(r), r.site, r.atomic ? r.scope : abi::Scope::System};
  }
  /// Bytes for which an access of this kind says nothing new.
  static uint64_t covered(const uint64_t (&done)[kKinds], Kind kind) {
    const uint64_t atomics = done[kAtomicWrite] | (kind == kAtomicRead ? done[kAtomicRead] | done[kRead] : 0);
    return done[kWrite] | (kind == kRead ? done[kRead] : atomics);
  }
  struct Key {
    uint32_t site;
    Kind kind;
    abi::Scope scope;
    bool operator==(const Key &) const = default;
  };
  struct Open {
    Key key;
    uint64_t begin, end;
  };
  uint32_t siteOf(Kind kind) const {
    for (const AccessRecord *r : Sorted)
      if (kindOf(*r) == kind)
        return r->site;
    return abi::kNoSite;
  }
  void add(uint64_t number, uint64_t mask, Key key) {
    while (mask) {
      const unsigned first = unsigned(std::countr_zero(mask)), bytes = unsigned(std::countr_one(mask >> first));
      const uint64_t begin = number * kLineBytes + first;
      extend(key, begin, begin + bytes);
      mask &= bytes == kLineBytes ? 0 : ~(((uint64_t(1) << bytes) - 1) << first);
    }
  }
  void extend(Key key, uint64_t begin, uint64_t end) {
    for (Open &o : Runs)
      if (o.key == key) {
        if (o.end != begin) {
          close(o);
          o.begin = begin;
        }
        o.end = end;
        return;
      }
    Runs.push_back({key, begin, end});
  }
  void close(const Open &o) {
    constexpr uint8_t kBits[kKinds] = {abi::kAccessWrite, abi::kAccessWrite | abi::kAccessAtomic, abi::kAccessRead,
                                       abi::kAccessRead | abi::kAccessAtomic};
    Closed.push_back({o.begin, o.end, o.key.site, kBits[o.key.kind], o.key.scope});
  }

  std::vector<const AccessRecord *> Sorted;
  std::vector<AccessRecord> SiteRecords; ///< plain reads
  std::vector<Open> Runs; ///< one for each key; there are a few
  std::vector<abi::AccessRun> Closed;
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_ACCESS_SUMMARY_H
