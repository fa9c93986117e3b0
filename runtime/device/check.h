// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check of one access, out of line (abi/device_check.h says what it must be): one copy per module instead of one
// per site. What a race needs comes last, behind a branch of the whole wave. The kernel has no branch of its own after
// a check: with one, the code generator moves computations of the kernel past all the checks that follow, and what they
// need has to be kept, in the end in scratch memory.
#ifndef WAVESAN_DEVICE_CHECK_H
#define WAVESAN_DEVICE_CHECK_H

#include "delay.h"
#include "platform_amdgcn.h"
#include "touch.h"
#include "wavesan/abi/device_check.h"

#define WAVESAN_OUT_OF_LINE __attribute__((noinline, used, visibility("hidden")))

namespace wavesan::device {

/// The first conflict of an access.
struct Seen {
  uint64_t previous; ///< core::Slot; 0: none
  uint32_t cell;
  bool previousWrites;
  abi::RaceClass raceClass;
};

/// Keeps the first conflict.
template <class Cells> struct FirstConflict : ShadowMemory<Cells> {
  Seen seen{};
  WAVESAN_INLINE void conflict(uint32_t cell, const core::Conflict &c) {
    if (seen.previous == 0)
      seen = {c.previous.bits(), cell, c.previousWrites, c.raceClass};
  }
};

/// The calling wave, as its record in LDS says.
struct Observer {
  Shape shape;
  uint32_t ldsBytes;
  core::Accessor accessor;
  WAVESAN_INLINE Lds<abi::WorkgroupState> *head() const { return ldsAt<abi::WorkgroupState>(shape.stateOffset()); }
  WAVESAN_INLINE uint64_t cells() const { return shape.cellsInLds() ? shape.ldsCells() : uniform(head()->cells); }
};

/// `recordOffset`: of the wave's record.
WAVESAN_INLINE Observer observe(uint32_t recordOffset, Operation op) {
  auto *record = ldsAt<abi::WaveRecord>(recordOffset);
  const uint32_t generation = loadShared(&record->generation), epoch = loadShared(&record->epoch);
  const uint32_t shape = record->shape, ldsBytes = record->ldsBytes;
  const Shape s(uniform(shape));
  return {s,
          uniform(ldsBytes),
          {s.wave(), laneId(), op.site(), core::slotGeneration(uniform(generation)), uniform(epoch), op.write(),
           op.atomic()}};
}

/// Cells [first, last] of the bytes that have any; `outside` if some have none. False if all have none.
WAVESAN_INLINE bool cellsOf(uint32_t address, uint32_t size, uint32_t ldsBytes, uint32_t granuleLog2, uint32_t &first,
                            uint32_t &last, bool &outside) {
  outside = size != 0 && (address >= ldsBytes || size > ldsBytes - address);
  if (size == 0 || address >= ldsBytes)
    return false;
  first = address >> granuleLog2;
  last = (outside ? ldsBytes - 1 : address + size - 1) >> granuleLog2;
  return true;
}

/// The conflict range number `wanted` of an access, in the order of a look at all its cells. One at a time: the code
/// that reports one stands once, and nothing is stored in between.
struct NthConflict : ShadowMemory<AnyCells> {
  uint32_t wanted = 0, seen = 0;
  core::ConflictRange range{};
  WAVESAN_INLINE void conflictRange(const core::ConflictRange &c) {
    if (seen++ == wanted)
      range = c;
  }
};

/// What a check knows of the order of waves: barriers alone. lds_order.h has the one that knows LDS flags, too.
struct OrderOfBarriers {
  using Found = Seen;
  using Nth = NthConflict;
  template <class Cells> static WAVESAN_INLINE Seen check(const Observer &o, uint32_t first, uint32_t last) {
    FirstConflict<Cells> p{{Cells(o.cells()), o.shape.stateOffset()}};
    for (uint32_t cell = first; cell <= last; ++cell)
      core::checkGranule(p, cell, o.accessor);
    return p.seen;
  }
  /// May a conflict have been missed because a cell could not keep a record?
  static constexpr bool lossy(const Seen &) { return false; }
  static WAVESAN_INLINE void prepare(NthConflict &, const Observer &) {}
};

/// Who reports.
struct Reporter {
  const Observer &o;
  Operation op;
  uint32_t variable, record;

  WAVESAN_INLINE void report(const core::ConflictRange &c) const {
    auto *head = o.head();
    auto *ctx = contextOf(head->context);
    auto *counters = (Global<abi::DispatchCounters> *)ctx->counters;
    abi::RaceRecord r;
    r.key = abi::raceKey(op.site(), c.previous.site(), c.raceClass);
    r.raceClass = uint32_t(c.raceClass);
    r.address = c.address;
    r.size = c.size;
    r.variableOffset = variable == abi::kNoVariable ? abi::kNoVariable : c.address - variable;
    r.space = uint32_t(abi::RaceSpace::Lds);
    r.neededScope = 0;
    r.workgroup[0] = r.previousWorkgroup[0] = head->workgroup[0];
    r.workgroup[1] = r.previousWorkgroup[1] = head->workgroup[1];
    r.workgroup[2] = r.previousWorkgroup[2] = head->workgroup[2];
    r.epoch = o.accessor.epoch;
    r.current = {op.site(), uint16_t(o.accessor.wave), uint8_t(o.accessor.lane), uint8_t(op.access())};
    r.previous = {c.previous.site(), uint16_t(c.previous.wave()), uint8_t(c.previous.lane()),
                  uint8_t((c.previousWrites ? abi::kAccessWrite : abi::kAccessRead) |
                          (c.previous.atomic() ? abi::kAccessAtomic : 0u))};
    addCounter(&counters->racesSeen, 1);
    TableMemory memory;
    if (!core::addRace(memory, (abi::RaceTable *)(Global<abi::RaceTable> *)ctx->raceTable, r))
      addCounter(&counters->racesDropped, 1);
  }
};

/// Reports every conflict of an access. `seen` is what the check saw: if its record has been replaced since by another
/// that stands for it, that one is found; if not even that, what the check saw is reported.
template <class Order>
WAVESAN_INLINE void reportAll(const Reporter &reporter, const Seen &seen, uint32_t first, uint32_t last, uint32_t begin,
                              uint32_t end) {
  const Observer &o = reporter.o;
  const uint32_t granuleLog2 = o.shape.granuleLog2();
  for (uint32_t wanted = 0;; ++wanted) {
    const Observer o = observe(again(reporter.record), reporter.op);
    core::MergingPlatform<typename Order::Nth> p;
    p.cells = {o.cells(), o.shape.cellsInLds()};
    p.stateOffset = o.shape.stateOffset();
    p.wanted = wanted;
    Order::prepare(p, o);
    p.granuleLog2 = granuleLog2;
    p.begin = begin;
    p.end = end;
    for (uint32_t cell = first; cell <= last; ++cell)
      core::look(p, cell, o.accessor);
    p.flush();
    const bool none = p.seen <= wanted;
    if (none) {
      if (wanted != 0)
        return;
      uint32_t low = seen.cell << granuleLog2, high = low + (1u << granuleLog2);
      low = low < begin ? begin : low;
      high = high > end ? end : high;
      p.range = {core::Slot(seen.previous), seen.previousWrites, seen.raceClass, low, high - low};
    }
    reporter.report(p.range);
    if (none)
      return;
  }
}

/// Checks `size` bytes (any number, lane by lane) from LDS byte address + offset on, and reports. `operation`:
/// Operation::bits.
template <class Order>
WAVESAN_INLINE void checkLds(uint32_t address, uint32_t offset, uint32_t size, uint32_t record, uint32_t operation,
                             uint32_t variable) {
  address += offset;
  const Operation op(uniform(operation));
  record = uniform(record);
  const Observer o = observe(record, op);
  if (__builtin_expect(o.shape.ofReplay(), 0) && hasDelays(again(record)))
    return delay(again(record), Operation(again(op.bits)).site(), address, size);
  // The lanes of a wave execute one instruction together: all read the same number, then all write the same.
  auto *checked = &ldsAt<abi::WaveRecord>(record)->checked;
  storeShared(checked, loadShared(checked) + 1);
  uint32_t first, last;
  bool outside;
  typename Order::Found seen{};
  const bool overflowed = o.accessor.generation > core::Slot::kMaxGeneration;
  if (cellsOf(address, size, o.ldsBytes, o.shape.granuleLog2(), first, last, outside) && !overflowed) {
    if (o.shape.cellsInLds())
      seen = Order::template check<LdsCells>(o, first, last);
    else
      seen = Order::template check<GlobalCells>(o, first, last);
  }
  // The branch is the wave's, so that the common way is short.
  if (__builtin_expect(
          __builtin_amdgcn_ballot_w64(overflowed || outside || seen.previous != 0 || Order::lossy(seen)) == 0, 1))
    return;
  auto *counters = (Global<abi::DispatchCounters> *)contextOf(o.head()->context)->counters;
  if (overflowed)
    addCounter(&counters->generationOverflow, 1);
  if (outside)
    addCounter(&counters->outsideShadow, 1);
  if (Order::lossy(seen))
    addCounter(&counters->historyOverflow, 1);
  const Observer reported = observe(again(record), op); // fewer values are kept over the check
  if (seen.previous != 0)
    reportAll<Order>({reported, op, uniform(variable), record}, seen, first, last, address,
                     outside ? o.ldsBytes : address + size);
}

extern "C" WAVESAN_OUT_OF_LINE void __wavesan_check(uint32_t address, uint32_t offset, uint32_t size, uint32_t record,
                                                    uint32_t operation, uint32_t variable) {
  checkLds<OrderOfBarriers>(address, offset, size, record, operation, variable);
}

} // namespace wavesan::device

#endif // WAVESAN_DEVICE_CHECK_H
