// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "native_hooks.h"

#include "lds_check.h"

#include "wavesan/abi/workgroup_number.h"

#include <algorithm>
#include <bit>
#include <unistd.h>

namespace wavesan::cpu {
namespace {

uint32_t groupsAlong(const abi::DispatchContext &c, int dimension) {
  return abi::workgroupsAlong(c.gridSize[dimension], std::max(c.workgroupSize[dimension], 1u));
}
uint32_t linearWorkgroup(const abi::DispatchContext &c, const uint32_t (&id)[3]) {
  return id[0] + groupsAlong(c, 0) * (id[1] + groupsAlong(c, 1) * id[2]);
}
void workgroupId(const abi::DispatchContext &c, uint32_t linear, uint32_t (&id)[3]) {
  abi::workgroupOf(linear, c.gridSize, c.workgroupSize, id);
}

/// For whoever sets no budget: a quarter of the memory that is free now. Nobody gets more than what is free.
uint64_t defaultBudget() {
  const long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? uint64_t(pages) * uint64_t(size) / 4 : uint64_t(1) << 29;
}

class NativeHooks final : public HookHandler {
public:
  void kernelBegin(WaveView &wave, LaneMask exec, const abi::DispatchContext *context) override {
    if (!wave.workgroupData) {
      WorkgroupShadow *fresh = acquire();
      fresh->start(context, dispatchOf(wave, *context), linearWorkgroup(*context, wave.workgroup), wave.waveCount,
                   Budget);
      fresh->divergence.start(wave.waveCount);
      wave.workgroupData = fresh;
    }
    shadowOf(wave)->laneCount[wave.wave] = std::popcount(exec);
    shadowOf(wave)->divergence.begin(wave, exec);
    if (byLanguage(*shadowOf(wave)))
      lanesOf(*shadowOf(wave), wave).language.start(exec);
  }

  void kernelEnd(WaveView &wave, LaneMask exec) override {
    WorkgroupShadow *s = shadowOf(wave);
    if (!s)
      return;
    abi::WaveRecord &r = s->state.waves[wave.wave];
    s->divergence.end(wave, exec);
    r.lanesEnded += std::popcount(exec);
    // Lanes may return at different places; the wave ends with the last of them.
    if (r.lanesEnded == s->laneCount[wave.wave]) {
      r.endEpoch = r.epoch + 1;
      s->order->end(wave.wave);
      s->orderChanged();
    }
  }

  void ldsAccess(WaveView &wave, LaneMask exec, const uint32_t *address, uint32_t info, uint32_t site,
                 uint32_t variable) override {
    if (WorkgroupShadow *s = shadowForAccess(wave)) {
      checkLds(*s, wave, exec, address, abi::accessSize(info), info, site, variable);
      const bool one = (info & abi::kAccessOneInstruction) != 0;
      noteLdsIssued(*s, wave, one ? LdsQueue::Kind::One : LdsQueue::Kind::Compiled, abi::accessSize(info),
                    (info & abi::kAccessOfCopy) != 0);
      compareLanes(*s, wave, exec, address, [&](unsigned) { return uint64_t(abi::accessSize(info)); }, info, site, true,
                   variable);
      askForValues(*s, wave);
    }
  }
  void ldsRange(WaveView &wave, LaneMask exec, const uint32_t *address, const uint64_t *length, uint32_t info,
                uint32_t site, uint32_t variable) override {
    if (WorkgroupShadow *s = shadowForAccess(wave)) {
      checkLdsRange(*s, wave, exec, address, length, info, site, variable);
      noteLdsIssued(*s, wave, LdsQueue::Kind::Compiled, 0);
      compareLanes(*s, wave, exec, address, [&](unsigned lane) { return length[lane]; }, info, site, true, variable);
    }
  }
  void genericAccess(WaveView &wave, LaneMask exec, const uint64_t *address, uint32_t info, uint32_t site) override {
    WorkgroupShadow *s = shadowForAccess(wave);
    if (!s)
      return;
    const Places at = placesOf(wave, exec, address);
    if (at.lds) {
      checkLds(*s, wave, at.lds, at.offsets, abi::accessSize(info), info, site, abi::kNoVariable);
      noteLdsIssued(*s, wave, LdsQueue::Kind::Flat, 0);
      compareLanes(*s, wave, at.lds, at.offsets, [&](unsigned) { return uint64_t(abi::accessSize(info)); }, info, site,
                   true, abi::kNoVariable);
    }
    checkGlobal(wave, at.global, info, site, address, [&](unsigned) { return uint64_t(abi::accessSize(info)); });
    if (at.lds && at.global)
      --s->counters.checkedAccesses; // one operation, whatever its lanes point to
    askForValues(*s, wave);
  }
  void genericRange(WaveView &wave, LaneMask exec, const uint64_t *address, const uint64_t *length, uint32_t info,
                    uint32_t site) override {
    WorkgroupShadow *s = shadowForAccess(wave);
    if (!s)
      return;
    const Places at = placesOf(wave, exec, address);
    if (at.lds) {
      checkLdsRange(*s, wave, at.lds, at.offsets, length, info, site, abi::kNoVariable);
      noteLdsIssued(*s, wave, LdsQueue::Kind::Flat, 0);
      compareLanes(*s, wave, at.lds, at.offsets, [&](unsigned lane) { return length[lane]; }, info, site, true,
                   abi::kNoVariable);
    }
    checkGlobal(wave, at.global, info, site, address, [&](unsigned lane) { return length[lane]; });
    if (at.lds && at.global)
      --s->counters.checkedAccesses;
  }
  void globalAccess(WaveView &wave, LaneMask exec, const uint64_t *address, uint32_t info, uint32_t site) override {
    WorkgroupShadow *s = shadowForAccess(wave);
    checkGlobal(wave, exec, info, site, address, [&](unsigned) { return uint64_t(abi::accessSize(info)); });
    if (s)
      askForValues(*s, wave);
  }
  void globalRange(WaveView &wave, LaneMask exec, const uint64_t *address, const uint64_t *length, uint32_t info,
                   uint32_t site) override {
    shadowForAccess(wave);
    checkGlobal(wave, exec, info, site, address, [&](unsigned lane) { return length[lane]; });
  }
  void atomicDone(WaveView &wave, LaneMask exec, const uint64_t *address, uint32_t info, uint32_t,
                  LaneMask wrote) override {
    WorkgroupShadow *s = shadowOf(wave);
    if (!s)
      return;
    WaveOrder &order = s->order->wave(wave.wave);
    const bool reads = (abi::accessBits(info) & abi::kAccessRead) != 0;
    const Places at = placesOf(wave, exec, address);
    const bool acquires = abi::atomicAcquires(info); // the others change nothing that the wave itself knows
    Bounds before;
    if (acquires)
      before = order.clock.local;
    s->dispatch->atomicDone(order, at.global, address, info, reads, wrote);
    for (LaneMask rest = at.lds; rest; rest &= rest - 1) {
      const unsigned lane = std::countr_zero(rest);
      if (!synchronise(s->ldsSync, order, address[lane], info, reads, wrote >> lane & 1)) {
        ++s->counters.orderUnknown;
        s->dispatch->loseOrder();
      }
    }
    if (acquires) {
      s->noteAcquired(before, order.clock.local);
      s->orderChanged(wave.wave);
    }
  }

  void laneClash(WaveView &wave, const LaneClash &clash, bool lds, uint32_t info, uint32_t site,
                 uint32_t variable) override {
    WorkgroupShadow *s = shadowOf(wave);
    if (!s)
      return;
    const uint64_t ldsBegin = reinterpret_cast<uint64_t>(wave.lds);
    const bool inLds = lds || clash.address - ldsBegin < wave.ldsBytes;
    abi::RaceRecord r{};
    r.key = abi::raceKey(site, site, abi::RaceClass::LaneConflict);
    r.raceClass = uint32_t(abi::RaceClass::LaneConflict);
    r.space = uint32_t(inLds ? abi::RaceSpace::Lds : abi::RaceSpace::Global);
    r.address = inLds && !lds ? clash.address - ldsBegin : clash.address;
    r.size = clash.size;
    r.variableOffset = variable == abi::kNoVariable ? abi::kNoVariable : uint32_t(r.address) - variable;
    for (int i = 0; i < 3; ++i)
      r.workgroup[i] = r.previousWorkgroup[i] = wave.workgroup[i];
    r.epoch = s->state.waves[wave.wave].epoch;
    const auto bits = uint8_t(abi::accessBits(info));
    r.previous = {site, uint16_t(wave.wave), clash.lanes[0], bits};
    r.current = {site, uint16_t(wave.wave), clash.lanes[1], bits};
    report(*s, r);
  }

  void storeFollows(WaveView &wave, bool lds, uint32_t site, const HeldBytes &held) override {
    if (WorkgroupShadow *s = shadowOf(wave))
      s->values.compare(site, [&](uint64_t address, uint32_t size, bool inLds) {
        return held.held(inLds && !lds ? reinterpret_cast<uint64_t>(wave.lds) + address : address, size);
      });
  }

  void barrierArrive(WaveView &wave, LaneMask exec, uint32_t site) override {
    if (WorkgroupShadow *s = shadowOf(wave)) {
      s->divergence.arrive(wave, exec, site);
      abi::WaveRecord &r = s->state.waves[wave.wave];
      r.barrierGeneration[(r.epoch + 1) % abi::kEpochBuffers] = s->order->wave(wave.wave).completeBelow[kLds];
      s->order->arrive(wave.wave);
    }
  }
  void barrierLeave(WaveView &wave, LaneMask exec, uint32_t) override {
    if (WorkgroupShadow *s = shadowOf(wave)) {
      abi::WaveRecord &r = s->state.waves[wave.wave];
      ++r.epoch;
      if (core::lostLiveRecord(r.evictedGeneration, r.barrierGeneration[r.epoch % abi::kEpochBuffers]))
        ++s->counters.historyOverflow;
      s->order->leave(wave.wave);
      s->orderChanged(wave.wave);
      lanesLearn(*s, wave, exec);
    }
  }
  void lanesMeet(WaveView &wave, LaneMask exec) override {
    if (WorkgroupShadow *s = shadowOf(wave); s && byLanguage(*s))
      lanesOf(*s, wave).language.meet(exec);
  }
  void fence(WaveView &wave, LaneMask exec, uint32_t info) override {
    if (WorkgroupShadow *s = shadowOf(wave)) {
      if (abi::fenceScope(info) >= abi::Scope::Wavefront) {
        if (abi::fenceBits(info) & (abi::kFenceAcquire | abi::kFenceSeqCst))
          lanesLearn(*s, wave, exec);
        else if ((abi::fenceBits(info) & abi::kFenceImplied) == 0)
          lanesMeet(wave, exec);
      }
      WaveOrder &order = s->order->wave(wave.wave);
      s->dispatch->acquireFence(order, info);
      if (order.pending.empty()) { // the wave learns nothing
        order.fence(info);
      } else {
        const Bounds before = order.clock.local;
        order.fence(info);
        s->noteAcquired(before, order.clock.local);
        s->orderChanged(wave.wave);
      }
      noteGeneration(*s, wave.wave);
      if (core::fenceCompletesLds(info) && !order.copies.empty()) {
        order.copies.fence();
        order.noteCopies();
      }
    }
  }
  void wait(WaveView &wave, LaneMask, uint32_t info) override {
    if (WorkgroupShadow *s = shadowOf(wave)) {
      WaveOrder &order = s->order->wave(wave.wave);
      order.complete(info & abi::kWaitLds, info & abi::kWaitVmem);
      if (const uint32_t count = abi::waitLdsCount(info))
        s->counters.waitsUnknown += order.waitForLds(count);
      noteGeneration(*s, wave.wave);
      if (!order.copies.empty()) {
        s->counters.waitsUnknown += order.copies.wait(info);
        order.noteCopies();
        s->orderChanged(wave.wave);
      }
    }
  }
  void ldsCopy(WaveView &wave, LaneMask exec, const uint32_t *address, uint32_t info, uint32_t site,
               uint32_t variable) override {
    if (WorkgroupShadow *s = shadowOf(wave)) {
      const uint32_t number = s->order->wave(wave.wave).copies.issue(info);
      checkLdsCopy(*s, wave, exec, address, info, site, variable, number);
    }
  }
  void gridArrive(WaveView &wave, LaneMask, uint32_t) override {
    if (WorkgroupShadow *s = shadowOf(wave))
      s->dispatch->gridArrive(s->order->wave(wave.wave));
  }
  void gridLeave(WaveView &wave, LaneMask exec, uint32_t) override {
    if (WorkgroupShadow *s = shadowOf(wave)) {
      lanesLearn(*s, wave, exec);
      WaveOrder &order = s->order->wave(wave.wave);
      const Bounds before = order.clock.local;
      s->dispatch->gridLeave(order);
      s->noteAcquired(before, order.clock.local);
      s->orderChanged(wave.wave);
    }
  }
  void vmemIssued(WaveView &wave, LaneMask, uint32_t info) override {
    if (WorkgroupShadow *s = shadowOf(wave)) {
      const auto any = [](uint32_t n) { return n == 255 ? uint64_t(kAnyNumber) : n; };
      CopyQueue &copies = s->order->wave(wave.wave).copies;
      copies.loads(info & 255, any(info >> 16 & 255));
      copies.stores(info >> 8 & 255, any(info >> 24));
    }
  }

  void namedBarrier(WaveView &wave, LaneMask exec, abi::NamedBarrierOperation operation, uint32_t barrier,
                    uint64_t phase) override {
    using enum abi::NamedBarrierOperation;
    WorkgroupShadow *s = shadowOf(wave);
    if (!s)
      return;
    if (!s->named)
      s->named = std::make_unique<NamedBarrierOrder>();
    WaveOrder &order = s->order->wave(wave.wave);
    switch (operation) {
    case Init: return s->named->discard(barrier, phase);
    case Join: return;
    case Signal:
    case Leave:
      s->named->arrive(order, barrier, phase);
      return noteGeneration(*s, wave.wave);
    case Wait: break;
    }
    const Bounds before = order.clock.local;
    if (!s->named->wait(order, barrier, phase)) {
      ++s->counters.orderUnknown;
      s->dispatch->loseOrder();
    }
    s->noteAcquired(before, order.clock.local);
    s->orderChanged(wave.wave);
    lanesLearn(*s, wave, exec);
  }

  void workgroupEnd(void *workgroupData) override {
    auto *s = static_cast<WorkgroupShadow *>(workgroupData);
    if (!s)
      return;
    s->divergence.finish([&](abi::RaceRecord &r) {
      r.key = abi::raceKey(r.current.site, r.previous.site, abi::RaceClass(r.raceClass));
      r.space = uint32_t(abi::RaceSpace::None);
      workgroupId(*s->context, s->workgroup, r.workgroup);
      report(*s, r);
    });
    s->counters.checkedSpaces = abi::kChecksLds | abi::kChecksGlobal | abi::kChecksCopies | abi::kFollowsNamedBarriers;
    if (s->dispatch->trial()) {
      s->dispatch->countOnTrial(s->counters);
    } else {
      s->dispatch->takeLosses(s->counters);
      addCounters(*reinterpret_cast<abi::DispatchCounters *>(s->context->counters), s->counters);
    }
    s->order.reset();
    release(s);
  }
  bool takesTrials() const override { return true; }
  void dispatchEnd(void *dispatchData) override {
    const std::unique_ptr<DispatchCheck> check(static_cast<DispatchCheck *>(dispatchData));
    if (check && check->trial())
      check->commit();
  }
  void dispatchUndo(void *dispatchData) override {
    const std::unique_ptr<DispatchCheck> check(static_cast<DispatchCheck *>(dispatchData));
    if (check)
      check->undo();
  }

private:
  /// The LDS cells' generation is that of the wave's clock.
  static void noteGeneration(WorkgroupShadow &s, uint32_t wave) {
    s.state.waves[wave].generation = s.order->wave(wave).generation[kLds] - core::slotGeneration(0);
  }
  /// Call once when an access begins: what an earlier one asked for in vain is of no interest any more.
  static WorkgroupShadow *shadowForAccess(const WaveView &wave) {
    WorkgroupShadow *s = shadowOf(wave);
    if (s && s->values.asked()) [[unlikely]]
      s->values.forget();
    return s;
  }
  static void askForValues(const WorkgroupShadow &s, WaveView &wave) { wave.asksForValues = s.values.asked(); }
  static bool byLanguage(const WorkgroupShadow &s) { return (s.context->flags & abi::kContextLanguageOrder) != 0; }
  static WorkgroupShadow::Lanes &lanesOf(WorkgroupShadow &s, const WaveView &wave) {
    auto &lanes = s.lanes[wave.wave];
    if (!lanes)
      lanes = std::make_unique<WorkgroupShadow::Lanes>();
    return *lanes;
  }
  /// Lanes have acquired something: what else their wave did may be what they waited for.
  static void lanesLearn(WorkgroupShadow &s, const WaveView &wave, LaneMask exec) {
    if (wave.arms)
      wave.arms->learnAll(exec);
    if (byLanguage(s))
      lanesOf(s, wave).language.learnAll(exec);
  }

  /// Compares the lanes of an access with what other lanes of their wave did and no order brought before it.
  template <class Address, class SizeOf>
  static void compareLanes(WorkgroupShadow &s, const WaveView &wave, LaneMask exec, const Address *address,
                           SizeOf sizeOf, uint32_t info, uint32_t site, bool lds, uint32_t variable) {
    const bool language = byLanguage(s);
    if (!wave.contested && !language) [[likely]]
      return;
    const uint32_t bits = abi::accessBits(info);
    const bool atomic = (bits & abi::kAccessAtomic) && abi::atomicScope(info) >= abi::Scope::Wavefront;
    const LaneHistory::What what{site, (bits & abi::kAccessWrite) != 0, atomic, lds};
    WorkgroupShadow::Lanes &lanes = lanesOf(s, wave);
    std::vector<uint32_t> told; ///< sites of earlier accesses that the arms explain
    const auto reportAs = [&](abi::RaceClass raceClass, const LaneRace &c) {
      abi::RaceRecord r{};
      r.key = abi::raceKey(site, c.previousSite, raceClass);
      r.raceClass = uint32_t(raceClass);
      r.space = uint32_t(lds ? abi::RaceSpace::Lds : abi::RaceSpace::Global);
      r.address = c.address;
      r.size = c.size;
      r.variableOffset = variable == abi::kNoVariable ? abi::kNoVariable : uint32_t(c.address) - variable;
      for (int i = 0; i < 3; ++i)
        r.workgroup[i] = r.previousWorkgroup[i] = wave.workgroup[i];
      r.epoch = s.state.waves[wave.wave].epoch;
      r.current = {site, uint16_t(wave.wave), c.lane, uint8_t(bits)};
      r.previous = {c.previousSite, uint16_t(wave.wave), c.previousLane,
                    uint8_t((c.previousWrites ? abi::kAccessWrite : abi::kAccessRead) |
                            (c.previousAtomic ? abi::kAccessAtomic : 0u))};
      report(s, r);
    };
    if (wave.contested) {
      const LaneOrder::Phase phase = wave.arms->phaseOf(exec);
      const bool kept = lanes.byArms.access(
          *wave.arms, exec, address, sizeOf, [&](unsigned) { return phase; }, what, [&](const LaneRace &c) {
            told.push_back(c.previousSite);
            reportAs(abi::RaceClass::WaveOrder, c);
          });
      s.counters.lanesUnchecked += !kept;
    }
    if (language) {
      LaneOrder &order = lanes.language;
      const bool kept = lanes.byLanguage.access(
          order, exec, address, sizeOf, [&](unsigned lane) { return order.phaseOf(LaneMask(1) << lane); }, what,
          [&](const LaneRace &c) {
            if (std::find(told.begin(), told.end(), c.previousSite) == told.end())
              reportAs(abi::RaceClass::Race, c);
          });
      s.counters.lanesUnchecked += !kept;
    }
  }

  /// Where waits count LDS instructions each of them is a generation of its own.
  static void noteLdsIssued(WorkgroupShadow &s, const WaveView &wave, LdsQueue::Kind kind, uint32_t size,
                            bool continues = false) {
    if (!(s.context->flags & abi::kContextCountsLdsWaits)) [[likely]]
      return;
    WaveOrder &order = s.order->wave(wave.wave);
    if (continues)
      order.ldsContinued();
    else
      order.ldsIssued(kind, size);
    noteGeneration(s, wave.wave);
  }
  static WorkgroupShadow *shadowOf(const WaveView &wave) { return static_cast<WorkgroupShadow *>(wave.workgroupData); }

  DispatchCheck *dispatchOf(WaveView &wave, const abi::DispatchContext &context) {
    std::lock_guard lock(PoolMutex);
    if (!wave.dispatchData) {
      Budget.limit(context.shadowBudget ? std::min(context.shadowBudget, 4 * Default) : Default);
      wave.dispatchData = new DispatchCheck(Budget, reinterpret_cast<abi::AccessSink *>(context.accessSink), wave.trial,
                                            reinterpret_cast<abi::DispatchCounters *>(context.counters));
    }
    return static_cast<DispatchCheck *>(wave.dispatchData);
  }

  /// Lanes whose generic pointer points into LDS, and into global memory; the rest is private.
  struct Places {
    LaneMask lds = 0, global = 0;
    uint32_t offsets[64]; ///< LDS bytes, of the lanes in `lds`
  };
  static Places placesOf(const WaveView &wave, LaneMask exec, const uint64_t *address) {
    const uint64_t lds = reinterpret_cast<uint64_t>(wave.lds);
    Places at;
    for (LaneMask rest = exec; rest; rest &= rest - 1) {
      const unsigned lane = std::countr_zero(rest);
      if (address[lane] - lds < wave.ldsBytes) {
        at.lds |= LaneMask(1) << lane;
        at.offsets[lane] = uint32_t(address[lane] - lds);
      } else if (address[lane] - wave.scratch >= wave.scratchBytes)
        at.global |= LaneMask(1) << lane;
    }
    return at;
  }

  /// One instruction; none where the compiler merges it or reads uniform data another way; several of a range.
  static void noteIssued(CopyQueue &copies, uint32_t info) {
    const uint32_t bits = abi::accessBits(info);
    if (info & abi::kAccessOfCopy)
      return;
    const bool exact = info & abi::kAccessOneInstruction;
    const uint64_t maybe = exact ? 0 : abi::accessSize(info) ? 1 : kAnyNumber;
    // A read-modify-write counts with the loads if it returns something, else with the stores.
    const bool either = (bits & abi::kAccessAtomic) && (bits & abi::kAccessWrite);
    if (bits & abi::kAccessRead)
      copies.loads(exact && !either, either ? std::max<uint64_t>(maybe, 1) : maybe);
    if (bits & abi::kAccessWrite)
      copies.stores(exact && !either, either ? std::max<uint64_t>(maybe, 1) : maybe);
  }
  static constexpr uint64_t kAnyNumber = uint64_t(1) << 32;

  template <class SizeOf>
  static void checkGlobal(WaveView &wave, LaneMask exec, uint32_t info, uint32_t site, const uint64_t *address,
                          SizeOf sizeOf) {
    WorkgroupShadow *s = shadowOf(wave);
    if (!s || exec == 0)
      return;
    ++s->counters.checkedAccesses;
    ++s->counters.globalAccesses;
    WaveOrder &order = s->order->wave(wave.wave);
    const uint32_t epoch = s->state.waves[wave.wave].epoch;
    const uint32_t bits = abi::accessBits(info);
    noteIssued(order.copies, info);
    s->dispatch->access(
        order, exec, address, sizeOf, abi::accessSize(info), info, site, epoch, [&](const GlobalConflict &c) {
          const AccessRecord &p = c.previous;
          const bool sameGroup = p.workgroup == s->workgroup;
          // Two atomics conflict only where the scope of one does not include the other side.
          const bool atomics = p.atomic && (bits & abi::kAccessAtomic);
          const bool behindBarrier =
              sameGroup && (p.epoch != uint8_t(epoch) ||
                            (s->named && s->named->between(wave.wave, p.wave, kGlobal, p.generation)));
          const abi::RaceClass raceClass = c.scopeTooSmall || atomics ? abi::RaceClass::ScopeTooSmall
                                           : behindBarrier            ? abi::RaceClass::MissingFence
                                                                      : abi::RaceClass::Race;
          abi::RaceRecord r{};
          r.key = abi::raceKey(site, p.site, raceClass, !sameGroup);
          r.raceClass = uint32_t(raceClass);
          r.space = uint32_t(abi::RaceSpace::Global);
          r.address = c.address;
          r.size = c.size;
          r.variableOffset = abi::kNoVariable;
          for (int i = 0; i < 3; ++i)
            r.workgroup[i] = wave.workgroup[i];
          workgroupId(*s->context, p.workgroup, r.previousWorkgroup);
          r.epoch = epoch;
          r.neededScope = uint32_t(sameGroup ? abi::Scope::Workgroup : abi::Scope::Agent);
          r.current = {site, uint16_t(wave.wave), c.lane, uint8_t(bits)};
          r.previous = {
              p.site, p.wave, c.previousLane,
              uint8_t((p.write ? abi::kAccessWrite : abi::kAccessRead) | (p.atomic ? abi::kAccessAtomic : 0u))};
          report(*s, r);
        });
    if ((bits & abi::kAccessWrite) && !(bits & abi::kAccessAtomic) && s->dispatch->hasSync())
      s->dispatch->plainStore(exec, address);
    compareLanes(*s, wave, exec, address, sizeOf, info, site, false, abi::kNoVariable);
  }

  // Shadows are reused: allocating one per workgroup would dominate small workgroups.
  WorkgroupShadow *acquire() {
    std::lock_guard lock(PoolMutex);
    if (Pool.empty())
      return new WorkgroupShadow;
    WorkgroupShadow *s = Pool.back().release();
    Pool.pop_back();
    return s;
  }
  void release(WorkgroupShadow *s) {
    std::lock_guard lock(PoolMutex);
    Pool.emplace_back(s);
  }
  const uint64_t Default = defaultBudget();
  MemoryBudget Budget; ///< before what takes from it
  std::mutex PoolMutex;
  std::vector<std::unique_ptr<WorkgroupShadow>> Pool;
};

} // namespace

std::unique_ptr<HookHandler> makeNativeHooks() { return std::make_unique<NativeHooks>(); }

} // namespace wavesan::cpu
