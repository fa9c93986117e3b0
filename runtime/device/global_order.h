// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What orders accesses to global memory beyond the barriers of a workgroup: releases and acquires by atomics and
// fences, and barriers of the grid (global_release.h: releases). docs/algorithm.md, "Global memory on a GPU", says how exact it is.
//
// A row has a bound for each wave of the dispatch: accesses of generations below it are known. Waves that acquire have
// one, and so have addresses where something was released. A release writes before the atomic that publishes it, an
// acquire reads behind the atomic, so every edge of the execution is seen.
#ifndef WAVESAN_DEVICE_GLOBAL_ORDER_H
#define WAVESAN_DEVICE_GLOBAL_ORDER_H

#include "check.h"
#include "wavesan/core/global_detector.h"

namespace wavesan::device {

using Variable = Global<abi::GlobalVariable>;
using Entry = Global<uint32_t>;

/// The calling wave and the tables of its dispatch. Everything in it is the wave's, the same in all lanes.
struct OrderView {
  Lds<abi::WaveRecord> *record;
  Lds<abi::WorkgroupState> *head;
  uint32_t stateOffset, wave; ///< in the workgroup

  WAVESAN_INLINE explicit OrderView(uint32_t recordOffset)
      : record(ldsAt<abi::WaveRecord>(recordOffset)), stateOffset(Shape(uniform(record->shape)).stateOffset()),
        wave(Shape(uniform(record->shape)).wave()) {
    head = ldsAt<abi::WorkgroupState>(stateOffset);
  }
  /// The same, for code that should keep nothing of what was computed before.
  WAVESAN_INLINE OrderView fresh() const { return OrderView(again(uint32_t(uint64_t(record)))); }
  WAVESAN_INLINE bool enabled() const { return uniform(head->shadowKeys) != 0; }
  WAVESAN_INLINE uint32_t waveBits() const { return uniform(head->waveBits); }
  WAVESAN_INLINE uint32_t group() const { return uniform(head->number); }
  WAVESAN_INLINE uint32_t number(uint32_t w) const { return group() << waveBits() | w; }
  WAVESAN_INLINE uint32_t self() const { return number(wave); }
  WAVESAN_INLINE uint32_t stamp() const { return uniform(head->stamp); }
  WAVESAN_INLINE uint32_t entries() const { return uniform(head->rowEntries); }
  WAVESAN_INLINE uint32_t variableCount() const { return uniform(head->variableCount); }
  WAVESAN_INLINE uint64_t order() const { return uniform(head->order); }
  WAVESAN_INLINE Variable *variable(uint32_t i) const { return globalAt<abi::GlobalVariable>(order()) + i; }
  WAVESAN_INLINE Global<uint32_t> *rowLocks() const { return (Global<uint32_t> *)variable(variableCount()); }
  WAVESAN_INLINE Global<abi::GlobalWave> *waveAt(uint32_t n) const {
    return (Global<abi::GlobalWave> *)(rowLocks() + uniform(head->lockCount)) + n;
  }
  WAVESAN_INLINE Global<abi::GlobalWave> *own() const { return waveAt(self()); }
  /// `row` counts from 1.
  WAVESAN_INLINE Entry *rowAt(uint32_t row) const { return (Entry *)waveAt(entries()) + uint64_t(row - 1) * entries(); }
  WAVESAN_INLINE Global<abi::DispatchCounters> *counters() const {
    return (Global<abi::DispatchCounters> *)contextOf(uniform(head->context))->counters;
  }
  WAVESAN_INLINE void lost() const {
    if (isFirstActiveLane())
      addCounter(&counters()->orderUnknown, 1);
  }
  WAVESAN_INLINE uint32_t waveCount() const { return uniform(head->waveCount); }
  WAVESAN_INLINE void changed() const {
    storeShared(&record->version, loadShared(&record->version) + 1);
    storeShared(&head->synchronised, 1u);
  }
  WAVESAN_INLINE uint32_t epoch() const { return uniform(loadShared(&record->epoch)); }
  /// Up to where wave w of the own workgroup is known, by barriers, in that epoch.
  WAVESAN_INLINE uint32_t boundByBarrier(uint32_t w, uint32_t inEpoch) const {
    const uint32_t end = uniform(loadShared(&recordOf(stateOffset, w)->endEpoch));
    if (end != 0 && end <= inEpoch)
      return ~0u;
    return core::GlobalArrival(uniform(loadShared(globalBarrierAt(stateOffset, inEpoch, w)))).complete();
  }
};

/// The active lanes do `work(i)` for all i of [begin, end).
template <class Work> WAVESAN_INLINE void together(uint32_t begin, uint32_t end, Work work) {
  const uint32_t step = activeLanes();
#pragma clang loop unroll(disable)
  for (uint32_t i = begin + rankAmong(__builtin_amdgcn_read_exec()); i < end; i += step)
    work(i);
}

/// Done by one lane, known to all.
template <class Work> WAVESAN_INLINE bool byOneLane(Work work) {
  uint32_t done = 0;
  if (isFirstActiveLane())
    done = work();
  return uniform(done) != 0;
}

WAVESAN_INLINE uint32_t hashOf(uint64_t key, uint32_t buckets) {
  return uint32_t((uint64_t(core::hashKey(key)) * buckets) >> 32);
}

/// A row that nobody uses, cleared; 0: none is left.
WAVESAN_INLINE uint32_t takeRow(const OrderView &v, uint64_t seed) {
  auto *locks = v.rowLocks();
  const uint32_t count = uniform(v.head->rowCount), taken = abi::rowLock(v.stamp());
  uint32_t at = hashOf(seed, count);
#pragma clang loop unroll(disable)
  for (uint32_t probe = 0; probe < abi::kGlobalProbes && probe < count; ++probe, at = at + 1 == count ? 0 : at + 1) {
    const uint32_t have = uniform(loadDevice(&locks[at]));
    if (have == taken || !byOneLane([&] { return compareExchangeDevice(&locks[at], have, taken); }))
      continue;
    Entry *row = v.rowAt(at + 1);
    together(0, v.entries(), [&](uint32_t i) { storeDevice(&row[i], 0u); });
    deviceRelease();
    return at + 1;
  }
  return 0;
}

/// True if that was news.
WAVESAN_INLINE bool joinRow(Entry *to, const Entry *from, uint32_t begin, uint32_t end) {
  uint32_t news = 0;
  together(begin, end, [&](uint32_t i) {
    const uint32_t bound = loadDevice(&from[i]);
    if (bound > loadDevice(&to[i])) {
      maxDevice(&to[i], bound);
      news = 1;
    }
  });
  deviceRelease();
  return __builtin_amdgcn_ballot_w64(news != 0) != 0;
}

/// Index of the variable plus 1, for each lane's key; 0: there is none. Looks only.
WAVESAN_INLINE uint32_t findVariable(const OrderView &v, uint64_t key) {
  const uint32_t count = v.variableCount();
  const uint64_t ready = abi::variableState(v.stamp(), false), busy = abi::variableState(v.stamp(), true);
  uint32_t at = hashOf(key, count), found = 0, left = abi::kGlobalProbes;
#pragma clang loop unroll(disable)
  do {
    const uint64_t state = loadDevice(&v.variable(at)->state);
    // One that is being made is another one: whoever could have read a release there comes after that.
    if (state == ready && loadDevice(&v.variable(at)->address) == key)
      found = at + 1;
    left = found != 0 || (state != ready && state != busy) ? 0 : left - 1;
    at = at + 1 == count ? 0 : at + 1;
  } while (left != 0);
  return found;
}

/// The same for one key of the whole wave, made where there is none. 0: the table is full.
WAVESAN_INLINE uint32_t makeVariable(const OrderView &v, uint64_t key) {
  const uint32_t count = v.variableCount(), stamp = v.stamp();
  uint32_t at = hashOf(key, count);
#pragma clang loop unroll(disable)
  for (uint32_t probe = 0; probe < abi::kGlobalProbes;) {
    Variable *x = v.variable(at);
    const uint64_t state = uniform(loadDevice(&x->state));
    if (state == abi::variableState(stamp, true))
      continue;
    if (state != abi::variableState(stamp, false)) {
      if (!byOneLane([&] { return compareExchangeDevice(&x->state, state, abi::variableState(stamp, true)); }))
        continue;
      // All lanes write the same.
      storeDevice(&x->address, key);
      storeDevice(&x->row, 0u);
      storeDevice(&x->acquirer, ~uint64_t(0));
      storeDevice(&x->acquiredWrites, 0u);
      storeDevice(&x->writes, 0u);
      storeDevice(&x->publisher, 0u);
      storeDevice(&x->publishedBound, 0u);
      storeDevice(&x->lost, 0u);
      storeDevice(&x->ended, 0u);
      storeDevice(&x->begun, 0u);
      storeDevice(&x->announced, 0u);
      storeDevice(&x->settled, 0u);
      deviceRelease();
      storeDevice(&x->state, abi::variableState(stamp, false));
      return at + 1;
    }
    if (uniform(loadDevice(&x->address)) == key)
      return at + 1;
    ++probe;
    at = at + 1 == count ? 0 : at + 1;
  }
  return 0;
}

/// Releases that reach one workgroup only have variables of their own: nobody else may take them for his.
WAVESAN_INLINE uint64_t keyInWorkgroup(const OrderView &v, uint64_t address) {
  return address | uint64_t((v.group() & 0xffffu) + 1) << abi::kAddressBits;
}
WAVESAN_INLINE bool hasKeyInWorkgroup(const OrderView &v) { return v.group() < 0xffffu; }

WAVESAN_INLINE void bump(Global<uint32_t> *counter, uint32_t by = 1) {
  __scoped_atomic_fetch_add(counter, by, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

/// Stores so far to an address of the whole wave, as long as its variable is known. `one`: counts one more.
WAVESAN_INLINE uint32_t storesAt(const OrderView &v, uint32_t location, bool one) {
  auto *ended = &v.variable(location - 1)->ended;
  uint32_t stores = 0;
  if (isFirstActiveLane())
    stores =
        one ? __scoped_atomic_fetch_add(ended, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE) + 1 : loadDevice(ended);
  return uniform(stores);
}

/// Waits until compare-exchanges that may have written what was read have released what they had to. If others never
/// cease, what it would have known is counted as lost.
WAVESAN_INLINE void awaitSettled(const OrderView &v, const Variable *x) {
  constexpr uint32_t kPatience = 1024;
#pragma clang loop unroll(disable)
  for (uint32_t round = 0; round < kPatience; ++round) {
    const uint32_t settled = uniform(loadDevice(&x->settled));
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    if (settled == uniform(loadDevice(&x->announced)))
      return;
    __builtin_amdgcn_s_sleep(1);
  }
  storeDevice(&v.own()->orderLost, 1u);
  v.changed();
  v.lost();
}

/// Makes what one variable carries known to the wave, at once or by its next acquire fence. `ended`: at the address.
/// False if it carries nothing.
WAVESAN_INLINE bool acquireAt(const OrderView &v, uint32_t index, uint32_t ended, bool now, bool device) {
  Variable *x = v.variable(index);
  awaitSettled(v, x);
  if (uniform(loadDevice(&x->begun)) != ended)
    return false;
  const uint32_t row = uniform(loadDevice(&x->row)), publisher = uniform(loadDevice(&x->publisher));
  if (device && uniform(loadDevice(&x->lost)) != 0 && uniform(loadDevice(&v.own()->orderLost)) == 0) {
    storeDevice(&v.own()->orderLost, 1u);
    v.changed();
  }
  if (row == 0 || publisher == v.self() + 1)
    return row != 0;
  auto *mine = now ? &v.record->row : &v.record->pendingRow;
  uint32_t to = uniform(loadShared(mine));
  // One wave's releases are known as a whole if its last one is.
  if (to != 0 && publisher - 1 < v.entries() &&
      uniform(loadDevice(&v.rowAt(to)[publisher - 1])) >= uniform(loadDevice(&x->publishedBound)))
    return true;
  if (to == 0) {
    to = takeRow(v, (uint64_t(v.self()) << 1 | uint64_t(now)) + 1);
    if (to == 0) {
      storeDevice(&v.own()->orderLost, 1u);
      v.changed();
      v.lost();
      return true;
    }
    storeShared(mine, to);
  }
  const uint32_t first = v.number(0), last = first + (1u << v.waveBits());
  if (joinRow(v.rowAt(to), v.rowAt(row), device ? 0 : first, device ? v.entries() : last) && now)
    v.changed();
  return true;
}

/// Behind an atomic that reads.
extern "C" WAVESAN_OUT_OF_LINE void __wavesan_global_acquire(uint64_t address, uint32_t recordOffset, uint32_t info,
                                                             uint32_t wrote) {
  const OrderView v(uniform(recordOffset));
  if (!v.enabled())
    return;
  makeUniform(info);
  const abi::Scope scope = abi::atomicScope(info);
  if (scope < abi::Scope::Workgroup)
    return;
  const bool device = scope >= abi::Scope::Agent;
  uint32_t location = 0; // variable of each lane's address
#pragma clang loop unroll(disable)
  for (uint32_t kind = 0; kind < 2; ++kind) {
    if (kind == 1 && !hasKeyInWorkgroup(v))
      break;
    uint32_t index = findVariable(v, kind == 0 ? address : keyInWorkgroup(v, address));
    if (kind == 0)
      location = index;
#pragma clang loop unroll(disable)
    while (index != 0) {
      const uint32_t one = uniform(index);
      if (one == index) {
        // Lanes of a compare-exchange at one address: if one succeeded it acquires for the wave.
        const bool now = __builtin_amdgcn_ballot_w64(abi::executedAtomicAcquires(info, wrote != 0)) != 0;
        const uint32_t place = uniform(location);
        const uint32_t ended = place == 0 ? 0 : storesAt(v, place, false);
        if (acquireAt(v, one - 1, ended, now, device && kind == 0) && device && kind == 0) {
          Variable *x = v.variable(one - 1);
          const uint32_t writes = uniform(loadDevice(&x->writes));
          if (now) {
            storeDevice(&x->acquiredWrites, writes);
            storeDevice(&x->acquirer, uint64_t(v.self()) << 32 | (loadShared(&v.record->globalGeneration) + 1));
          } else {
            storeDevice(&v.own()->pendingVariable, one);
            storeDevice(&v.own()->pendingWrites, writes);
          }
        }
        index = 0;
      }
    }
  }
}

/// A fence that orders global memory and reaches other waves.
extern "C" WAVESAN_OUT_OF_LINE void __wavesan_global_fence(uint32_t recordOffset, uint32_t info) {
  const OrderView v(uniform(recordOffset));
  makeUniform(info);
  const uint32_t generation = uniform(loadShared(&v.record->globalGeneration)) + 1;
  storeShared(&v.record->globalGeneration, generation);
  storeShared(&v.record->globalComplete, generation + 1);
  if ((abi::fenceBits(info) & abi::kFenceImplied) || !v.enabled())
    return;
  const bool device = abi::fenceScope(info) >= abi::Scope::Agent;
  const uint32_t pending = uniform(loadShared(&v.record->pendingRow));
  if ((abi::fenceBits(info) & (abi::kFenceAcquire | abi::kFenceSeqCst)) != 0 && pending != 0) {
    uint32_t to = uniform(loadShared(&v.record->row));
    if (to == 0)
      to = takeRow(v, (uint64_t(v.self()) << 1) + 2);
    if (to == 0) {
      storeDevice(&v.own()->orderLost, 1u);
      v.changed();
      v.lost();
    } else {
      storeShared(&v.record->row, to);
      const uint32_t first = v.number(0), last = first + (1u << v.waveBits());
      if (joinRow(v.rowAt(to), v.rowAt(pending), device ? 0 : first, device ? v.entries() : last))
        v.changed();
    }
    if (device) { // all of it is known now
      storeShared(&v.record->pendingRow, 0u);
      storeDevice(&v.rowLocks()[pending - 1], 0u);
    }
  }
  const bool acquires = (abi::fenceBits(info) & (abi::kFenceAcquire | abi::kFenceSeqCst)) != 0 && device;
  if (const uint32_t variable = acquires ? uniform(loadDevice(&v.own()->pendingVariable)) : 0) {
    Variable *x = v.variable(variable - 1);
    const uint32_t writes = uniform(loadDevice(&v.own()->pendingWrites));
    if (writes == uniform(loadDevice(&x->writes))) {
      storeDevice(&x->acquiredWrites, writes);
      storeDevice(&x->acquirer, uint64_t(v.self()) << 32 | generation); // what follows has a later one
    }
    storeDevice(&v.own()->pendingVariable, 0u);
  }
  if (abi::fenceBits(info) & (abi::kFenceRelease | abi::kFenceSeqCst)) {
    const uint32_t version = uniform(loadShared(&v.record->version));
    for (uint32_t reach = device ? 1 : 0;; --reach) {
      storeShared(&v.record->fenceComplete[reach], generation + 1);
      storeShared(&v.record->fenceEpoch[reach], v.epoch());
      storeShared(&v.record->fenceVersion[reach], version);
      if (reach == 0)
        break;
    }
  }
}

/// Behind a barrier of the workgroup: what the other waves know.
WAVESAN_INLINE void joinWorkgroup(const OrderView &v, uint32_t waves) {
  if (uniform(loadShared(&v.head->synchronised)) == 0 || !v.enabled())
    return;
  uint32_t versions = 0;
#pragma clang loop unroll(disable)
  for (uint32_t w = 0; w < waves; ++w)
    versions += w == v.wave ? 0 : uniform(loadShared(&recordOf(v.stateOffset, w)->version));
  if (versions == uniform(loadDevice(&v.own()->seenVersions)))
    return;
  storeDevice(&v.own()->seenVersions, versions);
  bool changed = false;
#pragma clang loop unroll(disable)
  for (uint32_t w = 0; w < waves; ++w) {
    if (w == v.wave)
      continue;
    auto *other = recordOf(v.stateOffset, w);
    const uint32_t from = uniform(loadShared(&other->row)), phase = uniform(loadShared(&other->gridPhase));
    if (uniform(loadDevice(&v.waveAt(v.number(w))->orderLost)) > uniform(loadDevice(&v.own()->orderLost))) {
      storeDevice(&v.own()->orderLost, 1u);
      changed = true;
    }
    if (phase > uniform(loadShared(&v.record->gridPhase))) {
      storeShared(&v.record->gridPhase, phase);
      changed = true;
    }
    if (from == 0)
      continue;
    uint32_t to = uniform(loadShared(&v.record->row));
    if (to == 0)
      to = takeRow(v, (uint64_t(v.self()) << 1) + 2);
    if (to == 0) {
      storeDevice(&v.own()->orderLost, 1u);
      v.lost();
      changed = true;
      continue;
    }
    storeShared(&v.record->row, to);
    // The version grows only with the knowledge: the others look at it.
    changed |= joinRow(v.rowAt(to), v.rowAt(from), 0, v.entries());
  }
  if (changed)
    v.changed();
}

/// Around a barrier of the whole grid. At the arrival: what is complete, of the own workgroup.
extern "C" WAVESAN_OUT_OF_LINE void __wavesan_global_grid(uint32_t recordOffset, uint32_t leave) {
  const OrderView v(uniform(recordOffset));
  if (!v.enabled())
    return;
  const uint32_t phase = uniform(loadShared(&v.record->gridPhase)) + 1;
  if (uniform(leave) != 0) {
    storeShared(&v.record->gridPhase, phase);
    return v.changed();
  }
  const uint32_t first = v.number(0), epoch = v.epoch();
#pragma clang loop unroll(disable)
  for (uint32_t w = 0; w < v.waveCount(); ++w)
    maxDevice(&v.waveAt(first + w)->grid[phase & 1],
              w == v.wave ? uniform(loadShared(&v.record->globalComplete)) : v.boundByBarrier(w, epoch));
  deviceRelease();
}

/// The workgroup has ended: its rows are free.
extern "C" WAVESAN_OUT_OF_LINE void __wavesan_global_end(uint32_t recordOffset, uint32_t waves) {
  const OrderView v(uniform(recordOffset));
  if (!v.enabled() || uniform(loadShared(&v.head->synchronised)) == 0)
    return;
#pragma clang loop unroll(disable)
  for (uint32_t w = 0; w < uniform(waves); ++w) {
    auto *record = recordOf(v.stateOffset, w);
    if (const uint32_t row = uniform(loadShared(&record->row)))
      storeDevice(&v.rowLocks()[row - 1], 0u);
    if (const uint32_t row = uniform(loadShared(&record->pendingRow)))
      storeDevice(&v.rowLocks()[row - 1], 0u);
  }
}

} // namespace wavesan::device

#endif // WAVESAN_DEVICE_GLOBAL_ORDER_H
