// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check of one access to global memory, out of line (abi/device_check.h says what it must be).
#ifndef WAVESAN_DEVICE_GLOBAL_CHECK_H
#define WAVESAN_DEVICE_GLOBAL_CHECK_H

#include "global_order.h"

namespace wavesan::device {

/// Number of a page of shadow for each lane's page of memory, made where there is none; ~0: the table is full there.
WAVESAN_INLINE uint32_t findPage(const OrderView &v, uint64_t page, bool wanted) {
  auto *keys = globalAt<uint64_t>(uniform(v.head->shadowKeys));
  const uint32_t count = uniform(v.head->pageCount), stamp = v.stamp();
  uint32_t found = ~0u;
  bool missing = false;
  if (wanted) {
    const uint64_t key = abi::pageKey(page, stamp, false);
    uint32_t at = hashOf(page, count);
    missing = true;
#pragma clang loop unroll(disable)
    for (uint32_t probe = 0; probe < abi::kGlobalProbes; ++probe, at = at + 1 == count ? 0 : at + 1) {
      const uint64_t have = loadDevice(&keys[at]);
      if (have == key) {
        found = at;
        missing = false;
      }
      if (have == key || abi::stampOf(have) != stamp)
        break;
    }
  }
  // One page after the other, by all lanes: they clear it together.
#pragma clang loop unroll(disable)
  while (missing) {
    const uint64_t one = uniform(page);
    if (one == page) {
      missing = false;
      uint32_t at = hashOf(one, count);
#pragma clang loop unroll(disable)
      for (uint32_t probe = 0; probe < abi::kGlobalProbes;) {
        const uint64_t have = uniform(loadDevice(&keys[at]));
        if (have == abi::pageKey(one, stamp, false)) {
          found = at;
          break;
        }
        if (have == abi::pageKey(one, stamp, true))
          continue; // another wave clears it
        if (abi::stampOf(have) != stamp) {
          if (!byOneLane([&] { return compareExchangeDevice(&keys[at], have, abi::pageKey(one, stamp, true)); }))
            continue;
          auto *words = globalAt<uint64_t>(uniform(v.head->shadowPages) + uint64_t(at) * abi::kGlobalPageBytes);
          together(0, abi::kGlobalPageBytes / 8, [&](uint32_t i) { storeDevice(&words[i], uint64_t(0)); });
          deviceRelease();
          storeDevice(&keys[at], abi::pageKey(one, stamp, false));
          found = at;
          break;
        }
        ++probe;
        at = at + 1 == count ? 0 : at + 1;
      }
    }
  }
  return found;
}

/// The detector's Platform.
struct GlobalPlatform {
  const OrderView &v;
  Global<uint64_t> *cell;
  uint64_t address; ///< of the granule
  uint32_t epoch, self, waveBits;
  Global<abi::DispatchCounters> *counters;

  WAVESAN_INLINE uint64_t load(uint32_t slot) { return loadDevice(&cell[slot]); }
  WAVESAN_INLINE bool compareExchange(uint32_t slot, uint64_t expected, uint64_t desired) {
    return compareExchangeDevice(&cell[slot], expected, desired);
  }
  /// Atomics of device scope are executed where all see them. The exchange has returned its value; the looks come after it.
  WAVESAN_INLINE void publishBeforeLook() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }

  WAVESAN_INLINE core::GlobalOrder order(uint32_t wave, uint32_t generation) {
    core::GlobalOrder unordered = core::GlobalOrder::Race;
    if (wave >> waveBits == self >> waveBits) {
      const uint32_t w = wave & ((1u << waveBits) - 1);
      const core::GlobalArrival arrival(loadShared(globalBarrierAt(v.stateOffset, epoch, w)));
      const uint32_t end = loadShared(&recordOf(v.stateOffset, w)->endEpoch);
      if (generation < arrival.complete() || (end != 0 && end <= epoch))
        return core::GlobalOrder::Before;
      if (arrival.isBefore(generation))
        unordered = core::GlobalOrder::MissingFence;
    }
    if (uniform(loadShared(&v.head->synchronised)) != 0) {
      const uint32_t row = uniform(loadShared(&v.record->row)), phase = uniform(loadShared(&v.record->gridPhase));
      if (row != 0 && generation < loadDevice(&v.rowAt(row)[wave]))
        return core::GlobalOrder::Before;
      if (phase != 0 && generation < loadDevice(&v.waveAt(wave)->grid[phase & 1]))
        return core::GlobalOrder::Before;
    }
    const auto *other = v.waveAt(wave);
    if ((loadShared(&v.record->orderLost) | loadDevice(&other->lost)) != 0 && generation < loadDevice(&other->released))
      return core::GlobalOrder::Unknown;
    return unordered;
  }
  WAVESAN_INLINE bool locationKnown() {
    if (uniform(loadShared(&v.head->synchronised)) == 0)
      return false;
    bool known = false;
#pragma clang loop unroll(disable)
    for (uint32_t back = 0; back < 2; ++back) { // the second half of an atomic of 8 bytes
      if (back == 1 && (address & 4) == 0)
        break;
      const uint32_t index = findVariable(v, address - back * 4);
      if (index == 0)
        continue;
      const Variable *x = v.variable(index - 1);
      const uint64_t acquirer = loadDevice(&x->acquirer);
      if (acquirer == ~uint64_t(0) || loadDevice(&x->acquiredWrites) != loadDevice(&x->writes))
        continue;
      const uint32_t who = uint32_t(acquirer >> 32);
      known |= who == self || order(who, uint32_t(acquirer)) == core::GlobalOrder::Before;
    }
    return known;
  }
  WAVESAN_INLINE void evictedOwn() {
    __scoped_atomic_fetch_max(&v.record->globalEvicted, loadShared(&v.record->globalGeneration) + 2, __ATOMIC_RELAXED,
                              __MEMORY_SCOPE_WRKGRP);
  }
  WAVESAN_INLINE void notKept() { addCounter(&counters->historyOverflow, 1); }
};

/// Checks `size` bytes (any number, lane by lane) from address + offset on, and reports. `operation`:
/// Operation::global.
extern "C" WAVESAN_OUT_OF_LINE void __wavesan_global_check(uint64_t address, uint32_t offset, uint32_t size,
                                                           uint32_t recordOffset, uint32_t operation) {
  const OrderView v(uniform(recordOffset));
  if (!v.enabled())
    return;
  address += uint64_t(int64_t(int32_t(offset)));
  const Operation op(uniform(operation));
  storeShared(&v.record->globalChecked, loadShared(&v.record->globalChecked) + 1);
  auto *counters = v.counters();
  core::GlobalAccessor a{};
  a.wave = v.self();
  a.generation = uniform(loadShared(&v.record->globalGeneration)) + 1;
  a.site = op.site();
  a.write = op.write();
  a.atomic = op.atomic();
  a.narrow = op.narrow();
  a.waveBits = v.waveBits();
  a.generationBits = uniform(v.head->generationBits);
  if (a.generation >> a.generationBits != 0) {
    addCounter(&counters->generationOverflow, 1);
    return;
  }
  const uint32_t epoch = v.epoch();
  const uint64_t end = address + size;
  // Granules in a row with one earlier side are one conflict. The last round only reports.
  uint64_t pending = 0, pendingAddress = 0;
  uint32_t pendingSize = 0, shadow = ~0u;
  core::GlobalOrder pendingOrder{};
  uint32_t pendingSide = 0;
  bool more = size != 0, first = true;
  uint64_t at = address;
#pragma clang loop unroll(disable)
  while (more) {
    const bool inside = at < end;
    const uint64_t next = (at & ~uint64_t(3)) + 4 < end ? (at & ~uint64_t(3)) + 4 : end;
    core::GlobalFinding found;
    const bool reachable = inside && at >> abi::kAddressBits == 0;
    const bool newPage = first || (at & ((1u << abi::kGlobalPageLog2) - 1)) == 0;
    const uint32_t page = findPage(v, at >> abi::kGlobalPageLog2, reachable && newPage);
    shadow = newPage ? page : shadow;
    first = false;
    if (inside && shadow == ~0u)
      addCounter(&counters->outsideBudget, 1);
    if (inside && shadow != ~0u) {
      const uint32_t low = uint32_t(at) & 3u, count = uint32_t(next - at);
      a.bytes = ((1u << count) - 1) << low;
      const uint32_t cell = uint32_t(at & ((1u << abi::kGlobalPageLog2) - 1)) / abi::kGlobalGranule;
      GlobalPlatform p{v,
                       globalAt<uint64_t>(uniform(v.head->shadowPages) + uint64_t(shadow) * abi::kGlobalPageBytes +
                                          uint64_t(cell) * abi::kGlobalCellBytes),
                       at & ~uint64_t(3),
                       epoch,
                       a.wave,
                       a.waveBits,
                       counters};
      found = core::checkGlobalGranule(p, a);
      if (found.previous != 0 && found.order == core::GlobalOrder::Unknown) {
        addCounter(&counters->orderUnknown, 1);
        found.previous = 0;
      } else if (found.previous == 0 && (found.lost || found.lostAtomic) && loadShared(&v.record->row) != 0) {
        addCounter(&counters->historyOverflow, 1);
      }
    }
    const core::GlobalSlot was(pending), is(found.previous);
    const bool same = pending != 0 && found.previous != 0 && was.who() == is.who() && was.site() == is.site() &&
                      pendingOrder == found.order && pendingSide == found.side;
    if (pending != 0 && !same) {
      const uint32_t wave = was.wave(a.generationBits), group = wave >> a.waveBits;
      auto *ctx = contextOf(uniform(v.head->context));
      const auto raceClass = pendingOrder == core::GlobalOrder::MissingFence ? abi::RaceClass::MissingFence : abi::RaceClass::Race;
      abi::RaceRecord r;
      r.key = abi::raceKey(op.site(), was.site(), raceClass);
      r.raceClass = uint32_t(raceClass);
      r.address = pendingAddress;
      r.size = pendingSize;
      r.variableOffset = abi::kNoVariable;
      r.space = uint32_t(abi::RaceSpace::Global);
      r.neededScope = 0;
      r.workgroup[0] = v.head->workgroup[0];
      r.workgroup[1] = v.head->workgroup[1];
      r.workgroup[2] = v.head->workgroup[2];
      // The host makes three numbers of one.
      r.previousWorkgroup[0] = group;
      r.previousWorkgroup[1] = r.previousWorkgroup[2] = abi::kLinearWorkgroup;
      r.epoch = epoch;
      r.current = {op.site(), uint16_t(v.wave), uint8_t(laneId()), uint8_t(op.access())};
      const bool plain = pendingSide != core::kAtomics, writes = plain ? pendingSide == core::kPlainWrites : was.write();
      r.previous = {was.site(), uint16_t(wave & ((1u << a.waveBits) - 1)), abi::kUnknownLane,
                    uint8_t((writes ? abi::kAccessWrite : abi::kAccessRead) | (plain ? 0u : uint32_t(abi::kAccessAtomic)))};
      addCounter(&counters->racesSeen, 1);
      TableMemory memory;
      if (!core::addRace(memory, (abi::RaceTable *)(Global<abi::RaceTable> *)ctx->raceTable, r))
        addCounter(&counters->racesDropped, 1);
      pending = 0;
    }
    if (found.previous != 0) {
      if (pending == 0) {
        pending = found.previous;
        pendingAddress = at;
        pendingSize = 0;
        pendingOrder = found.order;
        pendingSide = found.side;
      }
      pendingSize += uint32_t(next - at);
    }
    more = inside && (next < end || pending != 0);
    at = next;
  }
}

} // namespace wavesan::device

#endif // WAVESAN_DEVICE_GLOBAL_CHECK_H
