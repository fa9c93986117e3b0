// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check of one access to global memory, out of line (abi/device_check.h says what it must be).
#ifndef WAVESAN_DEVICE_GLOBAL_CHECK_H
#define WAVESAN_DEVICE_GLOBAL_CHECK_H

#include "global_order.h"
#include "lds_view.h"

namespace wavesan::device {

/// Whether this dispatch records accesses to the page.
WAVESAN_INLINE bool isRecorded(const OrderView &of, uint64_t page) {
  const OrderView v = of.fresh();
  const uint32_t unit = uint32_t(page >> (abi::kGlobalUnitLog2 - abi::kGlobalPageLog2)),
                 first = uniform(v.head->firstUnit);
  return unit - first <= uniform(v.head->lastUnit) - first;
}

/// Number of a page of shadow for each lane's page of memory, made where there is none; ~0: the table is full there, or
/// the page is not recorded.
/// `known` where it is not `wanted`.
WAVESAN_INLINE uint32_t findPage(const OrderView &of, uint64_t page, bool wanted, uint32_t known) {
  uint32_t found = known;
  bool missing = false;
  if (wanted) {
    found = ~0u;
    const OrderView v = of.fresh();
    auto *keys = globalAt<uint64_t>(uniform(v.head->shadowKeys));
    const uint32_t count = uniform(v.head->pageCount), stamp = v.stamp();
    const uint64_t key = abi::pageKey(page, stamp, false);
    uint32_t at = hashOf(page, count);
    uint32_t left = abi::kGlobalProbes;
#pragma clang loop unroll(disable)
    do {
      const uint64_t have = loadDevice(&keys[at]);
      if (have == key)
        found = at;
      left = have == key || abi::stampOf(have) != stamp ? 0 : left - 1;
      at = at + 1 == count ? 0 : at + 1;
    } while (left != 0);
    missing = found == ~0u && isRecorded(v, page);
  }
  // One page after the other, by all lanes: they clear it together.
#pragma clang loop unroll(disable)
  while (missing) {
    const OrderView v = of.fresh();
    auto *keys = globalAt<uint64_t>(uniform(v.head->shadowKeys));
    const uint32_t count = uniform(v.head->pageCount), stamp = v.stamp();
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
          // More words than lanes: each lane has some.
          static_assert(abi::kGlobalPageBytes / 8 >= 64);
          const uint32_t step = activeLanes();
          uint32_t word = rankAmong(__builtin_amdgcn_read_exec());
#pragma clang loop unroll(disable)
          do {
            storeDevice(&words[word], uint64_t(0));
            word += step;
          } while (word < abi::kGlobalPageBytes / 8);
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

  WAVESAN_INLINE uint64_t load(uint32_t slot) { return loadDevice(&cell[slot]); }
  WAVESAN_INLINE bool compareExchange(uint32_t slot, uint64_t expected, uint64_t desired) {
    return compareExchangeDevice(&cell[slot], expected, desired);
  }
  /// Atomics of device scope are executed where all see them. The exchange has returned its value; the looks come after
  /// it.
  WAVESAN_INLINE void publishBeforeLook() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }

  WAVESAN_INLINE core::GlobalOrder order(uint32_t wave, uint32_t generation) {
    const OrderView v = this->v.fresh();
    core::GlobalOrder unordered = core::GlobalOrder::Race;
    const uint32_t waveBits = v.waveBits();
    if (wave >> waveBits == v.group()) {
      const uint32_t w = wave & ((1u << waveBits) - 1), epoch = v.epoch();
      const core::GlobalArrival arrival(loadShared(globalBarrierAt(v.stateOffset, epoch, w)));
      const uint32_t end = loadShared(&recordOf(v.stateOffset, w)->endEpoch);
      if (w == v.wave || generation < arrival.complete() || (end != 0 && end <= epoch))
        return core::GlobalOrder::Before;
      if (arrival.isBefore(generation))
        unordered = core::GlobalOrder::MissingFence;
    }
    if (uniform(loadShared(&v.head->synchronised)) != 0) {
      const LdsTable table(Shape(uniform(v.record->shape)));
      if (table.there() && wave >> waveBits == v.group() &&
          generation < loadShared(&table.row(abi::kLdsKnown, v.wave)[2 * (wave & ((1u << waveBits) - 1)) + 1]))
        return core::GlobalOrder::Before;
      const uint32_t row = uniform(loadShared(&v.record->row)), phase = uniform(loadShared(&v.record->gridPhase));
      if (row != 0 && generation < loadDevice(&v.rowAt(row)[wave]))
        return core::GlobalOrder::Before;
      if (phase != 0 && generation < loadDevice(&v.waveAt(wave)->grid[phase & 1]))
        return core::GlobalOrder::Before;
    }
    const auto *other = v.waveAt(wave);
    if ((loadDevice(&v.own()->orderLost) | loadDevice(&other->lost)) != 0 && generation < loadDevice(&other->released))
      return core::GlobalOrder::Unknown;
    return unordered;
  }
  /// Does every atomic write to the location so far come before this wave?
  WAVESAN_INLINE bool locationKnown() {
    const OrderView v = this->v.fresh();
    if (uniform(loadShared(&v.head->synchronised)) == 0)
      return false;
    // The granule may be the second half of an atomic of 8 bytes.
    uint64_t acquirer = ~uint64_t(0);
#pragma clang loop unroll(disable)
    for (uint32_t back = 0; back <= uint32_t(address & 4); back += 4)
      if (const uint32_t index = findVariable(v, address - back)) {
        const Variable *x = v.variable(index - 1);
        if (loadDevice(&x->acquiredWrites) == loadDevice(&x->writes))
          acquirer = loadDevice(&x->acquirer);
      }
    return acquirer != ~uint64_t(0) && order(uint32_t(acquirer >> 32), uint32_t(acquirer)) == core::GlobalOrder::Before;
  }
  WAVESAN_INLINE uint32_t again(uint32_t value) { return device::again(value); }
  WAVESAN_INLINE void evictedOwn() {
    __scoped_atomic_fetch_max(&v.record->globalEvicted, loadShared(&v.record->globalGeneration) + 2, __ATOMIC_RELAXED,
                              __MEMORY_SCOPE_WRKGRP);
  }
};

WAVESAN_INLINE void reportGlobal(const OrderView &of, Operation op, const core::GlobalFinding &found, uint64_t address,
                                 uint32_t size) {
  const OrderView v = of.fresh();
  const core::GlobalSlot was(found.previous);
  const uint32_t wave = was.wave(uniform(v.head->generationBits)), waveBits = v.waveBits();
  auto *ctx = contextOf(uniform(v.head->context));
  auto *counters = v.counters();
  const auto raceClass =
      found.order() == core::GlobalOrder::MissingFence ? abi::RaceClass::MissingFence : abi::RaceClass::Race;
  const bool plain = found.side() != core::kAtomics, writes = plain ? found.side() == core::kPlainWrites : was.write();
  abi::RaceRecord r;
  r.key = abi::raceKey(op.site(), was.site(), raceClass, wave >> waveBits != v.group());
  r.raceClass = uint32_t(raceClass);
  r.address = address;
  r.size = size;
  r.variableOffset = abi::kNoVariable;
  r.space = uint32_t(abi::RaceSpace::Global);
  r.neededScope = 0;
  r.workgroup[0] = v.head->workgroup[0];
  r.workgroup[1] = v.head->workgroup[1];
  r.workgroup[2] = v.head->workgroup[2];
  // The host makes three numbers of one.
  r.previousWorkgroup[0] = wave >> waveBits;
  r.previousWorkgroup[1] = r.previousWorkgroup[2] = abi::kLinearWorkgroup;
  r.epoch = v.epoch();
  r.current = {op.site(), uint16_t(v.wave), uint8_t(laneId()), uint8_t(op.access())};
  r.previous = {was.site(), uint16_t(wave & ((1u << waveBits) - 1)), abi::kUnknownLane,
                uint8_t((writes ? abi::kAccessWrite : abi::kAccessRead) | (plain ? 0u : uint32_t(abi::kAccessAtomic)))};
  addCounter(&counters->racesSeen, 1);
  TableMemory memory;
  if (!core::addRace(memory, (abi::RaceTable *)(Global<abi::RaceTable> *)ctx->raceTable, r))
    addCounter(&counters->racesDropped, 1);
}

/// Checks `size` bytes (any number, lane by lane) from address + offset on, and reports. `operation`:
/// Operation::global.
extern "C" WAVESAN_OUT_OF_LINE void __wavesan_global_check(uint64_t address, uint32_t offset, uint32_t size,
                                                           uint32_t recordOffset, uint32_t operation) {
  recordOffset = uniform(recordOffset);
  address += uint64_t(int64_t(int32_t(offset)));
  operation = uniform(operation);
  {
    const OrderView v(recordOffset);
    if (__builtin_expect(Shape(uniform(v.record->shape)).ofReplay(), 0)) {
      if (Operation(again(operation)).write())
        noteWrite(again(recordOffset), address, size);
      if (hasDelays(again(recordOffset))) {
        delay(again(recordOffset), Operation(again(operation)).site(), address, size);
        size = 0; // nothing is checked. With a return here, the check needs scratch memory on gfx942
      }
    }
    if (!v.enabled())
      return;
    storeShared(&v.record->globalChecked, loadShared(&v.record->globalChecked) + 1);
    if (((uniform(loadShared(&v.record->globalGeneration)) + 1) >> uniform(v.head->generationBits)) != 0) {
      addCounter(&v.counters()->generationOverflow, 1);
      return;
    }
  }
  const uint64_t end = address + size;
  if (end >> abi::kAddressBits != 0) { // no key can name it
    addCounter(&OrderView(recordOffset).counters()->outsideBudget, 1);
    return;
  }
  uint64_t lastPage = ~uint64_t(0);
  uint32_t shadow = ~0u;
#pragma clang loop unroll(disable)
  while (address < end) {
    // What all rounds have in common is little, and computed again in each: it would be kept over code that needs much.
    const OrderView v(again(recordOffset));
    const Operation op(again(operation));
    const uint64_t next = (address & ~uint64_t(3)) + 4 < end ? (address & ~uint64_t(3)) + 4 : end;
    const uint64_t page = address >> abi::kGlobalPageLog2;
    shadow = findPage(v, page, page != lastPage, shadow);
    lastPage = page;
    if (shadow == ~0u) {
      if (isRecorded(v, page))
        addCounter(&v.counters()->outsideBudget, 1);
    } else {
      const uint32_t cell = uint32_t(address & ((1u << abi::kGlobalPageLog2) - 1)) / abi::kGlobalGranule;
      core::GlobalAccessor a{};
      a.wave = v.self();
      a.generation = uniform(loadShared(&v.record->globalGeneration)) + 1;
      a.site = op.site();
      a.bytes = ((1u << uint32_t(next - address)) - 1) << (uint32_t(address) & 3u);
      a.write = op.write();
      a.atomic = op.atomic();
      a.narrow = op.narrow();
      a.waveBits = v.waveBits();
      a.generationBits = uniform(v.head->generationBits);
      GlobalPlatform p{v,
                       globalAt<uint64_t>(uniform(v.head->shadowPages) + uint64_t(shadow) * abi::kGlobalPageBytes +
                                          uint64_t(cell) * abi::kGlobalCellBytes),
                       address & ~uint64_t(3)};
      core::GlobalFinding found = core::checkGlobalGranule(p, a);
      if (core::restsOnAtomics(found, a) && p.locationKnown())
        core::forgetAtomics(found);
      if (found.previous != 0 && found.order() == core::GlobalOrder::Unknown)
        addCounter(&v.counters()->orderUnknown, 1);
      else if (found.previous != 0)
        reportGlobal(v, op, found, address, uint32_t(next - address));
      else if ((found.flags & core::lossesThatCount(loadShared(&v.record->row) | loadShared(&v.head->ldsOrdered))) != 0)
        addCounter(&v.counters()->historyOverflow, 1);
    }
    address = next;
  }
}

} // namespace wavesan::device

#endif // WAVESAN_DEVICE_GLOBAL_CHECK_H
