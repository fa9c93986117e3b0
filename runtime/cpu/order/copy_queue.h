// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The asynchronous copies that one wave has issued, and which of them it has waited for.
//
// A counter counts what is under way, and its instructions complete in order: a wait for the count N completes a copy
// iff at least N younger instructions of the same counter had been issued. Copies and vector memory in inline assembly
// are one instruction each. How many instructions the compiler makes of other accesses is not known before it has done
// so: it merges some, and reads uniform data another way. So the number of younger instructions has two bounds, and
// where the verdict depends on which is right, the wait's effect is unknown: counted, and no report.
#ifndef WAVESAN_CPU_ORDER_COPY_QUEUE_H
#define WAVESAN_CPU_ORDER_COPY_QUEUE_H

#include "wavesan/abi/hooks.h"

#include <cstddef>
#include <cstdint>
#include <deque>

namespace wavesan::cpu {

class CopyQueue {
public:
  /// A copy; returns its number, from 1. `copyBits`: abi::CopyBits.
  uint32_t issue(uint32_t copyBits) {
    const bool async = copyBits & abi::kCopyAsyncCounter;
    if (async)
      ++AsyncIssued;
    else
      Loads.add(1, 0);
    AllFenced &= (copyBits & abi::kCopyFenced) != 0;
    Pending.push_back({++Issued, (copyBits & abi::kCopyFenced) != 0, async, AsyncIssued, Loads, Stores});
    return Issued;
  }
  /// Vector memory instructions: `sure` are issued for certain, `maybe` more may be.
  void loads(uint64_t sure, uint64_t maybe) { Loads.add(sure, maybe); }
  void stores(uint64_t sure, uint64_t maybe) { Stores.add(sure, maybe); }

  /// `info`: abi::waitInfo(). Returns the number of copies whose completion is unknown; they count as complete.
  uint32_t wait(uint32_t info) {
    uint32_t unknown = 0;
    const bool stores = (info & abi::kWaitVmemCountsStores) != 0;
    const uint32_t vmem = abi::waitVmemCount(info), async = abi::waitAsyncCount(info);
    // In order: with a copy all older ones of its counter are complete.
    while (!Pending.empty()) {
      const Copy &c = Pending.front();
      bool complete = (abi::waitCompleted(info) & (c.async ? abi::kWaitAsync : abi::kWaitVmem)) != 0;
      if (!complete && c.async && async != 0)
        complete = AsyncIssued - c.asyncIssued >= async;
      if (!complete && !c.async && vmem != 0) {
        Bounds younger = Loads.since(c.loads);
        if (stores)
          younger = younger.plus(Stores.since(c.stores));
        complete = younger.most >= vmem;
        unknown += complete && younger.least < vmem;
      }
      if (!complete)
        break;
      Completed = c.number;
      Pending.pop_front();
    }
    return unknown;
  }
  /// A fence that completes LDS accesses: the compiler waits for the copies it knows of, and so for older ones.
  void fence() {
    for (size_t i = Pending.size(); i-- > 0;)
      if (Pending[i].fenced) {
        Completed = Pending[i].number;
        Pending.erase(Pending.begin(), Pending.begin() + long(i) + 1);
        return;
      }
  }
  /// Copies up to this number are complete.
  uint32_t completed() const { return Completed; }
  bool empty() const { return Pending.empty(); }
  /// The compiler waits for all copies of this wave where its own accesses follow.
  bool allKnownToCompiler() const { return AllFenced; }

private:
  /// At least and at most so many.
  struct Bounds {
    uint64_t least = 0, most = 0;
    void add(uint64_t sure, uint64_t maybe) {
      least += sure;
      most += sure + maybe;
    }
    Bounds since(const Bounds &then) const { return {least - then.least, most - then.most}; }
    Bounds plus(const Bounds &other) const { return {least + other.least, most + other.most}; }
  };
  struct Copy {
    uint32_t number;
    bool fenced, async;
    uint64_t asyncIssued; ///< this one included, as in the following
    Bounds loads, stores;
  };
  std::deque<Copy> Pending;
  bool AllFenced = true;
  uint32_t Issued = 0, Completed = 0;
  uint64_t AsyncIssued = 0;
  Bounds Loads, Stores;
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_COPY_QUEUE_H
