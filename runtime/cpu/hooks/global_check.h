// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Global memory and atomics of one dispatch on the CPU agent: the happens-before of runtime/cpu/order, driven by
// wave-level hook calls.
#ifndef WAVESAN_CPU_GLOBAL_CHECK_H
#define WAVESAN_CPU_GLOBAL_CHECK_H

#include "engine.h"
#include "access_summary.h"
#include "memory_shadow.h"

#include <bit>
#include <map>
#include <mutex>

namespace wavesan::cpu {

/// A conflict on consecutive bytes.
struct GlobalConflict {
  AccessRecord previous;
  uint8_t previousLane;
  uint8_t lane; ///< of the current side
  uint64_t address;
  uint32_t size;
  bool scopeTooSmall;
};

/// What an atomic that was executed does to the order of waves. False if the table had no room for its release.
inline bool synchronise(SyncTable &table, WaveOrder &wave, uint64_t key, uint32_t info, bool reads, bool wrote) {
  const abi::Scope scope = abi::atomicScope(info);
  const uint32_t label = wave.generation[kGlobal];
  SyncVariable *v = table.find(key);
  if (reads)
    wave.atomicRead(v, scope, abi::executedAtomicAcquires(info, wrote));
  // A relaxed store that publishes nothing, to a location that carries nothing, needs no entry.
  const bool publishes = wrote && (abi::atomicReleases(info) || wave.hasFence());
  if (publishes && !table.hasRoom())
    return false;
  if (!v && publishes)
    v = table.get(key);
  if (!v)
    return !publishes;
  v->hasBytes(abi::accessSize(info));
  if (wrote) {
    wave.atomicWrite(*v, scope, abi::atomicReleases(info), reads);
    v->wrote();
  }
  if (reads && reachesOtherWorkgroups(scope)) {
    if (abi::executedAtomicAcquires(info, wrote))
      v->acquiredBy(wave.id, label);
    else
      wave.sees({key, v->version()});
  }
  return true;
}

/// The part of an acquire fence that concerns locations. Call before WaveOrder::fence.
inline void acquireSeen(SyncTable &table, WaveOrder &wave, uint32_t info) {
  const uint32_t bits = abi::fenceBits(info);
  if (!(bits & (abi::kFenceAcquire | abi::kFenceSeqCst)) || (bits & abi::kFenceImplied) ||
      !reachesOtherWorkgroups(abi::fenceScope(info)))
    return;
  for (const WaveOrder::SeenVersion &s : wave.seen)
    if (SyncVariable *v = table.find(s.key); v && v->version() == s.version)
      v->acquiredBy(wave.id, wave.generation[kGlobal]);
  wave.seen.clear();
}

/// Adds what was counted; others may be adding, too.
inline void addCounters(abi::DispatchCounters &to, const abi::DispatchCounters &from) {
  const auto add = [&](uint64_t abi::DispatchCounters::*counter) {
    if (from.*counter)
      __atomic_fetch_add(&(to.*counter), from.*counter, __ATOMIC_RELAXED);
  };
  using C = abi::DispatchCounters;
  for (uint64_t C::*counter : {&C::checkedAccesses, &C::racesSeen, &C::racesDropped, &C::historyOverflow,
                               &C::generationOverflow, &C::outsideShadow, &C::globalAccesses, &C::orderUnknown,
                               &C::waitsUnknown, &C::outsideBudget, &C::lanesUnchecked})
    add(counter);
  __atomic_fetch_or(&to.checkedSpaces, from.checkedSpaces, __ATOMIC_RELAXED);
}

/// One dispatch. Locked by itself: its workgroups may run on several threads.
///
/// In one order all accesses are checked under one lock. On trial (trial.h) there are several shadows with a lock each,
/// which share out the pages, and no atomics.
class DispatchCheck {
public:
  /// `sink`: gets what the dispatch touched when it ends; null: nobody wants to know. `trial`: null: the dispatch runs
  /// in one order. `counters`: of a trial that holds.
  explicit DispatchCheck(MemoryBudget &budget, abi::AccessSink *sink = nullptr, Trial *trial = nullptr,
                         abi::DispatchCounters *counters = nullptr)
      : Sync(&budget), Budget(budget), OnTrial(trial), Counters(counters), Sink(sink) {
    const unsigned partsLog2 = trial ? kTrialPartsLog2 : 0;
    for (unsigned i = 0; i < 1u << partsLog2; ++i)
      Parts.push_back(std::make_unique<Part>(budget, MemoryShadow::Mode{sink != nullptr, trial, partsLog2}));
  }
  ~DispatchCheck() {
    try {
      if (Sink)
        summarise();
    } catch (const std::bad_alloc &) { // whoever waits for the sink learns that nothing was recorded
    }
  }

  /// Checks and records one access of a wave: lane i of `exec` touches length(i) bytes from address[i] on; where all
  /// lengths are the same, `size` says it, otherwise it is 0. Lanes that continue one another are recorded together.
  template <class Length, class F>
  void access(const WaveOrder &wave, LaneMask exec, const uint64_t *address, Length length, uint32_t size,
              uint32_t info, uint32_t site, uint32_t epoch, F &&onConflict) {
    if (OnTrial && OnTrial->failed())
      return; // it will not be executed
    std::unique_lock lock(Mutex, std::defer_lock);
    if (!OnTrial)
      lock.lock();
    PartLock part;
    AccessRecord base{};
    base.workgroup = wave.id.workgroup;
    base.wave = uint8_t(wave.id.wave);
    base.generation = wave.generation[kGlobal];
    base.site = site;
    base.epoch = uint8_t(epoch);
    base.write = (abi::accessBits(info) & abi::kAccessWrite) != 0;
    base.atomic = (abi::accessBits(info) & abi::kAccessAtomic) != 0;
    base.scope = abi::atomicScope(info);
    if (!OnTrial)
      for (unsigned lane = 0; lane < 64; lane += kRowLanes)
        if (exec >> lane & 1)
          Parts.front()->shadow.prefetch(address[lane] / kLineBytes);
    // A run: consecutive lanes, consecutive bytes, equal lengths.
    uint64_t runAddress = 0, runEnd = 0, laneBytes = 0;
    unsigned runLane = 0, lastLane = 0;
    auto flush = [&] {
      if (runEnd != runAddress)
        accessRun(part, wave, base, runAddress, runEnd - runAddress, runLane,
                  runLane == lastLane ? 0 : uint32_t(laneBytes), onConflict);
    };
    for (LaneMask rest = exec; rest;) {
      const unsigned lane = unsigned(std::countr_zero(rest));
      const uint64_t a = address[lane], n = length(lane);
      const bool row = size != 0 && size < kMaxRunBytes && (rest >> lane & kRowMask) == kRowMask &&
                       consecutive(address + lane, size);
      const unsigned lanes = row ? kRowLanes : 1;
      rest &= ~((row ? kRowMask : LaneMask(1)) << lane);
      if (n == 0)
        continue;
      const bool extends =
          runEnd != runAddress && a == runEnd && n == laneBytes && lane == lastLane + 1 && n < kMaxRunBytes;
      if (!extends) {
        flush();
        runAddress = a;
        runLane = lane;
        laneBytes = n;
      }
      runEnd = a + lanes * n;
      lastLane = lane + lanes - 1;
    }
    flush();
  }

  /// The synchronisation of an atomic on global memory, after it was executed: lane i of `lanes` at address[i] stored
  /// something if bit i of `wrote` is set.
  void atomicDone(WaveOrder &wave, LaneMask lanes, const uint64_t *address, uint32_t info, bool reads, LaneMask wrote) {
    if (!lanes)
      return;
    if (OnTrial)
      return OnTrial->fail();
    std::lock_guard lock(Mutex);
    for (LaneMask rest = lanes; rest; rest &= rest - 1) {
      const unsigned lane = unsigned(std::countr_zero(rest));
      if (!synchronise(Sync, wave, address[lane], info, reads, wrote >> lane & 1)) {
        ++OrderUnknown;
        loseOrder();
      }
      if (Sink && reads && reachesOtherWorkgroups(abi::atomicScope(info)))
        noteRead(address[lane], abi::executedAtomicAcquires(info, wrote >> lane & 1));
    }
  }
  /// A barrier of the whole grid: what its waves knew when they arrived, all of them know when they leave.
  void gridArrive(WaveOrder &wave) {
    std::lock_guard lock(Mutex);
    GridPhase &p = Grid[++wave.gridPhase];
    ++p.arrived;
    WaveClock known;
    wave.publishClock(known);
    p.clock.add(wave.id.workgroup, known);
    wave.publishWide(known);
    p.wide.add(wave.id.workgroup, known);
  }
  void gridLeave(WaveOrder &wave) {
    std::lock_guard lock(Mutex);
    const auto p = Grid.find(wave.gridPhase);
    if (p == Grid.end())
      return;
    acquire(wave.clock, wave.id.workgroup, p->second.clock);
    acquire(wave.wide, wave.id.workgroup, p->second.wide);
    // Nobody arrives any more once one has left.
    if (++p->second.left == p->second.arrived)
      Grid.erase(p);
  }
  void acquireFence(WaveOrder &wave, uint32_t info) {
    const uint32_t bits = abi::fenceBits(info);
    if (Sink && (bits & (abi::kFenceAcquire | abi::kFenceSeqCst)) && !(bits & abi::kFenceImplied) &&
        reachesOtherWorkgroups(abi::fenceScope(info)))
      Fenced.store(true, std::memory_order_relaxed);
    if (wave.seen.empty())
      return;
    std::lock_guard lock(Mutex);
    acquireSeen(Sync, wave, info);
  }
  /// A plain store to a location that atomics use ends its release sequence.
  void plainStore(LaneMask lanes, const uint64_t *address) {
    std::lock_guard lock(Mutex);
    for (LaneMask rest = lanes; rest; rest &= rest - 1)
      if (SyncVariable *v = Sync.find(address[std::countr_zero(rest)]))
        v->clear();
  }
  bool hasSync() const { return !Sync.empty(); }
  /// A release could not be kept. From now on what looks unordered may be ordered by it.
  void loseOrder() {
    OrderLost.store(true, std::memory_order_relaxed);
    if (OnTrial)
      OnTrial->fail();
  }
  bool orderLost() const { return OrderLost.load(std::memory_order_relaxed); }

  /// Adds what could not be recorded since the last call.
  void takeLosses(abi::DispatchCounters &to) {
    std::lock_guard lock(Mutex);
    uint64_t lost = 0, unrecorded = 0;
    for (const auto &part : Parts) {
      lost += part->shadow.lost();
      unrecorded += part->shadow.unrecorded();
    }
    to.historyOverflow += lost - std::exchange(TakenLost, lost);
    to.outsideBudget += unrecorded - std::exchange(TakenUnrecorded, unrecorded);
    to.orderUnknown += OrderUnknown - std::exchange(TakenUnknown, OrderUnknown);
  }

  Trial *trial() const { return OnTrial; }
  /// On trial a workgroup ends: what it has counted. Nobody hears of it if the trial fails.
  void countOnTrial(const abi::DispatchCounters &workgroup) {
    if (Budget.isShort())
      OnTrial->fail();
    std::lock_guard lock(Mutex);
    addCounters(Counted, workgroup);
  }
  /// The trial has held.
  void commit() {
    takeLosses(Counted);
    addCounters(*Counters, Counted);
  }
  /// The trial has failed, and all its workgroups have ended.
  void undo() {
    Sink = nullptr;
    for (const auto &part : Parts)
      part->shadow.restore();
  }

private:
  /// So many shadows that two of a few threads rarely want the same one.
  static constexpr unsigned kTrialPartsLog2 = 5;
  struct Part {
    Part(MemoryBudget &budget, const MemoryShadow::Mode &mode) : shadow(budget, mode) {}
    std::mutex mutex; ///< on trial
    MemoryShadow shadow;
  };
  /// Holds the lock of at most one part.
  struct PartLock {
    Part *part = nullptr;
    std::unique_lock<std::mutex> lock;
  };
  /// The shadow of a line; on trial its lock is held then.
  MemoryShadow &shadowOf(PartLock &held, uint64_t line) {
    if (!OnTrial)
      return Parts.front()->shadow;
    Part *part = Parts[MemoryShadow::pageOf(line) & (Parts.size() - 1)].get();
    if (held.part != part) {
      if (held.part)
        held.lock.unlock();
      held.part = part;
      held.lock = std::unique_lock(part->mutex);
    }
    return part->shadow;
  }

  static constexpr uint64_t kMaxRunBytes = 256; ///< of one lane in a run: AccessRecord::laneBytes holds less
  /// So many lanes at once are asked whether they continue one another.
  static constexpr unsigned kRowLanes = 16;
  static constexpr LaneMask kRowMask = (LaneMask(1) << kRowLanes) - 1;
  static bool consecutive(const uint64_t *address, uint64_t bytes) {
    uint64_t differs = 0;
    for (unsigned i = 0; i < kRowLanes; ++i)
      differs |= address[i] ^ (address[0] + i * bytes);
    return differs == 0;
  }

  /// A plain access comes behind every atomic write so far to each location that it shares with the earlier atomic.
  bool locationsKnown(const WaveOrder &wave, uint64_t line, const LineConflict &c) {
    if (Sync.empty())
      return false;
    for (uint64_t rest = c.mask; rest != 0;) {
      const uint64_t byte = line * kLineBytes + unsigned(std::countr_zero(rest));
      const SyncVariable *v = nullptr;
      uint64_t begin = byte;
      for (const uint64_t alignment : {1, 2, 4, 8}) {
        begin = byte & ~(alignment - 1);
        v = Sync.find(begin);
        if (v && byte - begin < v->bytes())
          break;
        v = nullptr;
      }
      if (!v || !v->allWritesKnownTo(wave.id, wave.clock))
        return false;
      const uint64_t end = begin + v->bytes() - line * kLineBytes;
      rest = end < kLineBytes ? rest & ~uint64_t(0) << end : 0;
    }
    return true;
  }

  template <class F>
  void accessRun(PartLock &part, const WaveOrder &wave, AccessRecord record, uint64_t address, uint64_t size,
                 unsigned lane, uint32_t laneBytes, F &onConflict) {
    for (uint64_t at = address, end = address + size; at < end;) {
      const uint64_t line = at / kLineBytes, next = std::min(end, (line + 1) * kLineBytes);
      const unsigned first = unsigned(at % kLineBytes), bytes = unsigned(next - at);
      record.mask = (bytes < kLineBytes ? (uint64_t(1) << bytes) - 1 : ~uint64_t(0)) << first;
      record.firstByte = uint8_t(first);
      // A lane that straddles the line's begin belongs to the previous line's count.
      record.lane = uint8_t(laneBytes ? lane + (at - address) / laneBytes : lane);
      record.laneBytes = laneBytes != 0 && (at - address) % laneBytes == 0 ? uint8_t(laneBytes) : 0;
      if (laneBytes != 0 && record.laneBytes == 0)
        record.lane = abi::kUnknownLane;
      const AccessRecord &fresh = record;
      shadowOf(part, line).access(wave, line, fresh, [&](const LineConflict &c) {
        const unsigned byte = unsigned(std::countr_zero(c.mask));
        if (c.previous.atomic && !fresh.atomic && locationsKnown(wave, line, c))
          return;
        const unsigned run = unsigned(std::countr_one(c.mask >> byte));
        onConflict(GlobalConflict{c.previous, c.previous.laneOf(byte), fresh.laneOf(byte), line * kLineBytes + byte,
                                  run, c.scopeTooSmall});
      });
      at = next;
    }
  }

  /// An atomic that other dispatches can reach has read there.
  void noteRead(uint64_t address, bool acquires) {
    uint64_t &recent = RecentReads[address / 4 % kRecentReads];
    if (recent == (address | uint64_t(acquires)))
      return;
    recent = address | uint64_t(acquires);
    if (AtomicReads.size() < kMaxReads)
      AtomicReads[address] |= acquires;
    else
      ReadsLost = true;
  }
  void summarise() {
    AccessSummary summary;
    std::vector<std::pair<uint64_t, MemoryShadow *>> pages;
    uint64_t unrecorded = 0;
    for (const auto &part : Parts) {
      for (uint64_t number : part->shadow.pages())
        pages.emplace_back(number, &part->shadow);
      unrecorded += part->shadow.unrecorded();
    }
    std::sort(pages.begin(), pages.end());
    for (const auto &[number, shadow] : pages)
      shadow->forEachLineOf(number, [&](uint64_t line, RecordList &records, uint64_t reads, uint64_t atomics) {
        summary.line(line, records, reads, atomics, shadow->readSites(line));
      });
    std::map<uint64_t, abi::SyncPlace> places;
    Sync.forEach([&](uint64_t key, const SyncVariable &v) {
      if (v.everReleased(abi::Scope::Agent))
        places[key] = {key, true, v.everReleased(abi::Scope::System), ReadsLost};
    });
    for (const auto &[address, acquires] : AtomicReads)
      if (acquires || Fenced.load(std::memory_order_relaxed)) {
        abi::SyncPlace &p = places.try_emplace(address, abi::SyncPlace{address, false, false, false}).first->second;
        p.acquires = true;
      }
    std::vector<abi::SyncPlace> list;
    for (const auto &[_, place] : places)
      list.push_back(place);
    const std::vector<abi::AccessRun> runs = summary.take();
    const abi::DispatchAccesses all = {runs.data(), runs.size(), list.data(), list.size(), unrecorded};
    Sink->take(Sink, &all);
  }
  static constexpr size_t kMaxReads = 1 << 16, kRecentReads = 256;

  struct GridPhase {
    ReleaseClock clock, wide;
    uint64_t arrived = 0, left = 0;
  };
  std::mutex Mutex;
  SyncTable Sync;
  std::map<uint64_t, GridPhase> Grid; ///< by number, of barriers that some have not left
  std::vector<std::unique_ptr<Part>> Parts;
  MemoryBudget &Budget;
  Trial *const OnTrial;
  abi::DispatchCounters *const Counters;
  abi::DispatchCounters Counted{}; ///< on trial
  uint64_t OrderUnknown = 0, TakenLost = 0, TakenUnrecorded = 0, TakenUnknown = 0;
  abi::AccessSink *Sink;
  std::unordered_map<uint64_t, bool> AtomicReads; ///< where; whether one of them acquired
  uint64_t RecentReads[kRecentReads] = {};
  bool ReadsLost = false;
  std::atomic<bool> OrderLost{false};
  std::atomic<bool> Fenced{false}; ///< a fence of a wave acquired for the whole device
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_GLOBAL_CHECK_H
