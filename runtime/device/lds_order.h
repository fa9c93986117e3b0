// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What orders the waves of a workgroup beyond its barriers: releases and acquires through atomics on LDS. Kernels that
// have no such atomics (llvm-pass/LdsOrder.h) call none of this. docs/algorithm.md, "LDS flags on a GPU", has the
// rules.
//
// A wave holds the workgroup's lock from the check of its atomic to the hook behind it. So what an atomic read and what
// the table says of its address belong together, also of a compare-exchange, and the table needs no atomics. Nothing of
// the program is between the two hooks but the atomic itself, so whoever waits for the lock waits for hooks only.
#ifndef WAVESAN_DEVICE_LDS_ORDER_H
#define WAVESAN_DEVICE_LDS_ORDER_H

#include "global_order.h"
#include "lds_view.h"

namespace wavesan::device {

/// The calling wave. Everything in it is the wave's, the same in all lanes.
struct LdsOrderView : OrderView {
  LdsTable table;
  WAVESAN_INLINE explicit LdsOrderView(uint32_t recordOffset)
      : OrderView(recordOffset), table(Shape(uniform(record->shape))) {}

  WAVESAN_INLINE bool isLocked() const { return uniform(loadShared(&head->ldsOrderLock)) == wave + 1; }
  /// Once is enough, however often it is called (several atomics of one text of inline assembly).
  WAVESAN_INLINE void lock() const {
    if (isLocked())
      return;
#pragma clang loop unroll(disable)
    while (!byOneLane([&] {
      uint32_t expected = 0;
      return __scoped_atomic_compare_exchange_n(&head->ldsOrderLock, &expected, wave + 1, false, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    }))
      __builtin_amdgcn_s_sleep(1);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  }
  WAVESAN_INLINE void unlock() const {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    storeShared(&head->ldsOrderLock, 0u);
  }

  /// Up to where this wave knows wave entry / 2 by now, in one address space: of itself, what is complete.
  WAVESAN_INLINE uint32_t bound(uint32_t entry) const {
    const uint32_t w = entry >> 1, now = loadShared(&record->epoch);
    if (w == wave)
      return entry & 1 ? loadShared(&record->globalComplete)
                       : core::barrierGenerationOf(loadShared(&record->generation));
    const uint32_t end = loadShared(&recordOf(stateOffset, w)->endEpoch);
    if (end != 0 && end <= now)
      return ~0u;
    const uint32_t known = loadShared(&table.row(abi::kLdsKnown, wave)[entry]);
    const uint32_t barrier = entry & 1
                                 ? core::GlobalArrival(loadShared(globalBarrierAt(stateOffset, now, w))).complete()
                                 : loadShared(barrierGenerationAt(stateOffset, now, w));
    return known > barrier ? known : barrier;
  }
  /// The wave learns what a row says, of the address spaces in `spaces` (FenceBits): at once, or by its next acquire
  /// fence.
  WAVESAN_INLINE void learn(const Global<uint32_t> *from, uint32_t spaces, abi::LdsRow into) const {
    auto *to = table.row(into, wave);
    uint32_t news = 0;
    together(0, 2 * table.waves, [&](uint32_t i) {
      const uint32_t there = loadShared(&from[i]);
      if ((spaces & (i & 1 ? abi::kFenceGlobal : abi::kFenceLds)) == 0 || i >> 1 == wave || there <= loadShared(&to[i]))
        return;
      storeShared(&to[i], there);
      news = 1;
    });
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
    if (into == abi::kLdsKnown && __builtin_amdgcn_ballot_w64(news != 0) != 0) {
      storeShared(&head->ldsOrdered, 1u);
      changed();
    }
  }
  /// Index of the flag plus 1; 0: there is none.
  WAVESAN_INLINE uint32_t find(uint32_t address) const {
    const uint32_t used = uniform(loadShared(&table.head()->used));
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < used; ++i)
      if (uniform(loadShared(&table.head()->flags[i].address)) == address + 1)
        return i + 1;
    return 0;
  }
  /// 0: the table is full.
  WAVESAN_INLINE uint32_t make(uint32_t address) const {
    const uint32_t used = uniform(loadShared(&table.head()->used));
    if (used == abi::kLdsFlags)
      return 0;
    storeShared(&table.head()->flags[used].address, address + 1);
    storeShared(&table.head()->flags[used].carries, 0u);
    storeShared(&table.head()->used, used + 1);
    return used + 1;
  }
  WAVESAN_INLINE bool hasFence() const {
    const auto *row = table.row(abi::kLdsFenced, wave) + 2 * wave;
    return uniform(loadShared(&row[0]) | loadShared(&row[1])) != 0;
  }
};

/// May atomics on LDS order the waves of this kernel? The pass puts the answer in place of the call.
extern "C" WAVESAN_OUT_OF_LINE bool __wavesan_orders_lds(uint32_t recordOffset) {
  return LdsTable(Shape(uniform(ldsAt<abi::WaveRecord>(recordOffset)->shape))).there();
}

/// Behind the check of an atomic on LDS, in front of the atomic.
extern "C" WAVESAN_OUT_OF_LINE void __wavesan_lds_begin(uint32_t recordOffset) {
  const LdsOrderView v(uniform(recordOffset));
  if (v.table.there())
    v.lock();
}

/// Behind an atomic on LDS. `address` and `wrote` may differ between lanes.
extern "C" WAVESAN_OUT_OF_LINE void __wavesan_lds_done(uint32_t address, uint32_t recordOffset, uint32_t info,
                                                       uint32_t wrote) {
  makeUniform(recordOffset, info);
  if (!LdsOrderView(recordOffset).table.there())
    return;
  LdsOrderView(again(recordOffset)).lock();
  const bool reaches = abi::atomicScope(info) >= abi::Scope::Workgroup,
             reads = (abi::accessBits(info) & abi::kAccessRead) != 0, releases = abi::atomicReleases(info);
  // Data that many lanes add to are no flags of a fence that stands somewhere before.
  constexpr uint32_t kMostFlags = 4;
  uint32_t done = 0, flags = 0;
#pragma clang loop unroll(disable)
  while (done == 0) {
    const bool few = flags++ < kMostFlags;
    const uint32_t at = uniform(address);
    if (at != address)
      continue;
    const LdsOrderView v(again(recordOffset));
    uint32_t flag = v.find(at);
    const bool stores = __builtin_amdgcn_ballot_w64(wrote != 0) != 0;
    const bool carries = flag != 0 && uniform(loadShared(&v.table.head()->flags[flag - 1].carries)) != 0;
    if (reads && reaches && carries) {
      // Of several lanes at one address: if one acquires it does so for the wave.
      const bool now = __builtin_amdgcn_ballot_w64(abi::executedAtomicAcquires(info, wrote != 0)) != 0;
      v.learn(v.table.flagRow(flag - 1), abi::kFenceLds | abi::kFenceGlobal, now ? abi::kLdsKnown : abi::kLdsPending);
    }
    const bool publishes = stores && reaches && (releases || (few && v.hasFence()));
    if (publishes && flag == 0) {
      flag = v.make(at);
      if (flag == 0)
        v.lost();
    }
    if (flag != 0 && stores) {
      // A store that is no read-modify-write ends the release sequence.
      const bool joins = reads && carries;
      if (publishes) {
        auto *to = v.table.flagRow(flag - 1);
        const auto *fenced = v.table.row(abi::kLdsFenced, v.wave);
        together(0, 2 * v.table.waves, [&](uint32_t i) {
          const uint32_t bound = releases ? v.bound(i) : loadShared(&fenced[i]),
                         before = joins ? loadShared(&to[i]) : 0;
          storeShared(&to[i], bound > before ? bound : before);
        });
      }
      storeShared(&v.table.head()->flags[flag - 1].carries, uint32_t(joins || publishes));
    }
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
    done = 1;
  }
  LdsOrderView(again(recordOffset)).unlock();
}

/// Behind a fence that reaches other waves. `info` counts the completion of what stands before it already.
extern "C" WAVESAN_OUT_OF_LINE void __wavesan_lds_fence(uint32_t recordOffset, uint32_t info) {
  makeUniform(recordOffset, info);
  const LdsOrderView v(recordOffset);
  if (!v.table.there())
    return;
  const uint32_t bits = abi::fenceBits(info), version = uniform(loadShared(&v.record->version));
  if (bits & (abi::kFenceAcquire | abi::kFenceSeqCst))
    v.learn(v.table.row(abi::kLdsPending, v.wave), bits, abi::kLdsKnown);
  if ((bits & (abi::kFenceRelease | abi::kFenceSeqCst)) == 0)
    return;
  // What a fence acquires is part of what it releases: also of what it releases to global memory.
  for (uint32_t reach = 0; reach < abi::kFenceReaches; ++reach)
    if (uniform(loadShared(&v.record->fenceVersion[reach])) == version &&
        uniform(loadShared(&v.record->fenceComplete[reach])) == uniform(loadShared(&v.record->globalComplete)))
      storeShared(&v.record->fenceVersion[reach], uniform(loadShared(&v.record->version)));
  auto *fenced = v.table.row(abi::kLdsFenced, v.wave);
  together(0, 2 * v.table.waves, [&](uint32_t i) {
    if (bits & (i & 1 ? abi::kFenceGlobal : abi::kFenceLds))
      storeShared(&fenced[i], v.bound(i));
  });
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}

/// What a wave knows through barriers and LDS flags.
struct OrderOfFlags {
  /// The first conflict, and whether one may have been missed.
  struct Found : Seen {
    bool missing;
  };
  /// Where the table is is looked up again each time: code of waves keeps little over loops.
  template <class Base> struct Knowing : Base {
    uint32_t record = 0; ///< of the wave that looks
    uint32_t cell = 0;
    WAVESAN_INLINE Shape shape() const { return Shape(uniform(ldsAt<abi::WaveRecord>(again(record))->shape)); }
    WAVESAN_INLINE uint32_t epoch() const { return loadShared(&ldsAt<abi::WaveRecord>(again(record))->epoch); }
    WAVESAN_INLINE bool comesBefore(core::Slot s) const {
      const Shape wave = shape();
      const LdsTable table(wave);
      return table.there() && s.generation() < loadShared(&table.row(abi::kLdsKnown, wave.wave())[2 * s.wave()]);
    }
    static WAVESAN_INLINE Global<uint32_t> *lost(const LdsTable &table, bool writes, uint32_t cell) {
      return (writes ? table.head()->lostWrites : table.head()->lostReads) + LdsTable::bucket(cell);
    }
    /// Two live records stand for the lost one, as long as barriers alone order waves.
    WAVESAN_INLINE void evicted(uint32_t w, uint32_t generation, bool write) {
      Base::evicted(w, generation);
      const LdsTable table(shape());
      if (table.there())
        __scoped_atomic_fetch_max(lost(table, write, cell), epoch() + 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    }
    /// Has the cell lost a record, since the last barrier, that this access would conflict with?
    WAVESAN_INLINE bool missing(bool write) const {
      const LdsTable table(shape());
      return table.there() && (loadShared(lost(table, true, cell)) > epoch() ||
                               (write && loadShared(lost(table, false, cell)) > epoch()));
    }
  };
  using Nth = Knowing<NthConflict>;
  template <class Cells> struct Recording : Knowing<FirstConflict<Cells>> {
    bool write = false;
    WAVESAN_INLINE void evicted(uint32_t w, uint32_t generation) {
      Knowing<FirstConflict<Cells>>::evicted(w, generation, write);
    }
  };
  static WAVESAN_INLINE uint32_t recordOf(const Observer &o) {
    return uint32_t(uint64_t(device::recordOf(o.shape.stateOffset(), o.shape.wave())));
  }

  template <class Cells> static WAVESAN_INLINE Found check(const Observer &o, uint32_t first, uint32_t last) {
    Recording<Cells> p;
    p.cells = Cells(o.cells());
    p.stateOffset = o.shape.stateOffset();
    p.record = recordOf(o);
    p.write = o.accessor.write;
    bool missing = false;
    for (uint32_t cell = first; cell <= last; ++cell) {
      p.cell = cell;
      core::checkGranule(p, cell, o.accessor);
      // Who knows nothing but barriers misses nothing.
      if (uniform(loadShared(&ldsAt<abi::WorkgroupState>(p.shape().stateOffset())->ldsOrdered)) != 0)
        missing |= p.missing(o.accessor.write);
    }
    return {p.seen, missing && p.seen.previous == 0};
  }
  static WAVESAN_INLINE bool lossy(const Found &found) { return found.missing; }
  static WAVESAN_INLINE void prepare(Nth &p, const Observer &o) { p.record = recordOf(o); }
};

/// In place of __wavesan_check, in kernels that order waves through LDS.
extern "C" WAVESAN_OUT_OF_LINE void __wavesan_check_ordered(uint32_t address, uint32_t offset, uint32_t size,
                                                            uint32_t record, uint32_t operation, uint32_t variable) {
  checkLds<OrderOfFlags>(address, offset, size, record, operation, variable);
}

} // namespace wavesan::device

#endif // WAVESAN_DEVICE_LDS_ORDER_H
