// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "native_hooks.h"

#include "wavesan/core/lds_access.h"
#include "wavesan/core/race_table.h"

#include <bit>
#include <mutex>
#include <vector>

namespace wavesan::cpu {
namespace {

/// What the device runtime keeps in LDS and in registers, for one workgroup. Only the thread that executes the
/// workgroup touches it: plain loads and stores are enough, and publication and look are in program order.
struct WorkgroupShadow {
  const abi::DispatchContext *context = nullptr;
  abi::WorkgroupState state{};
  uint32_t laneCount[abi::kMaxWavesPerWorkgroup] = {};
  abi::DispatchCounters counters{};
  std::vector<uint64_t> cells;
};

/// RaceTable words: other threads and the tool look at them.
struct HostMemory {
  uint64_t load64(uint64_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
  uint64_t compareExchange64(uint64_t *p, uint64_t expected, uint64_t desired) {
    __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return expected;
  }
  void add32(uint32_t *p, uint32_t v) { __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
  void storeRelease32(uint32_t *p, uint32_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
};

/// The detector's Platform (core/lds_detector.h) over a WorkgroupShadow.
struct HostPlatform {
  WorkgroupShadow &shadow;
  const uint32_t *workgroup;
  uint32_t wave, lane, site, access, epoch, variable;

  HostPlatform(WorkgroupShadow &s, const WaveView &view, uint32_t site, uint32_t info, uint32_t variable)
      : shadow(s), workgroup(view.workgroup), wave(view.wave), lane(0), site(site), access(abi::accessBits(info)),
        epoch(s.state.waves[view.wave].epoch), variable(variable) {}

  uint64_t load(uint32_t cell, uint32_t slot) { return shadow.cells[size_t(cell) * core::kSlotsPerCell + slot]; }
  bool compareExchange(uint32_t cell, uint32_t slot, uint64_t &, uint64_t desired) {
    shadow.cells[size_t(cell) * core::kSlotsPerCell + slot] = desired;
    return true;
  }
  void publishBeforeLook() {}
  uint32_t barrierGeneration(uint32_t e, uint32_t w) {
    return shadow.state.barrierGeneration[e % abi::kEpochBuffers][w];
  }
  uint32_t endEpoch(uint32_t w) { return shadow.state.waves[w].endEpoch; }
  void evicted(uint32_t w, uint32_t generation) {
    uint32_t &e = shadow.state.waves[w].evictedGeneration;
    if (e < generation + 1)
      e = generation + 1;
  }
  void conflictRange(const core::ConflictRange &c) {
    abi::RaceRecord r{};
    r.key = abi::raceKey(site, c.previous.site(), c.raceClass);
    r.raceClass = uint32_t(c.raceClass);
    r.address = c.address;
    r.size = c.size;
    r.variableOffset = variable == abi::kNoVariable ? abi::kNoVariable : c.address - variable;
    for (int i = 0; i < 3; ++i)
      r.workgroup[i] = workgroup[i];
    r.epoch = epoch;
    r.current = {site, uint16_t(wave), uint8_t(lane), uint8_t(access)};
    r.previous = {c.previous.site(), uint16_t(c.previous.wave()), uint8_t(c.previous.lane()),
                  uint8_t((c.previousWrites ? abi::kAccessWrite : abi::kAccessRead) |
                          (c.previous.atomic() ? abi::kAccessAtomic : 0u))};
    ++shadow.counters.racesSeen;
    HostMemory memory;
    if (!core::addRace(memory, reinterpret_cast<abi::RaceTable *>(shadow.context->raceTable), r))
      ++shadow.counters.racesDropped;
  }
};

class NativeHooks final : public HookHandler {
public:
  void kernelBegin(WaveView &wave, LaneMask exec, const abi::DispatchContext *context) override {
    if (!wave.workgroupData) {
      WorkgroupShadow *fresh = acquire();
      fresh->context = context;
      fresh->state = {};
      fresh->counters = {};
      fresh->cells.assign(abi::shadowBytes(context->ldsBytes, context->granuleLog2) / sizeof(uint64_t), 0);
      wave.workgroupData = fresh;
    }
    shadowOf(wave)->laneCount[wave.wave] = std::popcount(exec);
  }

  void kernelEnd(WaveView &wave, LaneMask exec) override {
    WorkgroupShadow *s = shadowOf(wave);
    if (!s)
      return;
    abi::WaveRecord &r = s->state.waves[wave.wave];
    r.lanesEnded += std::popcount(exec);
    // Lanes may return at different places; the wave ends with the last of them.
    if (r.lanesEnded == s->laneCount[wave.wave])
      r.endEpoch = r.epoch + 1;
  }

  void ldsAccess(WaveView &wave, LaneMask exec, const uint32_t *address, uint32_t info, uint32_t site,
                 uint32_t variable) override {
    check(wave, exec, info, site, variable, [&](unsigned lane) { return address[lane]; },
          [&](unsigned) { return uint64_t(abi::accessSize(info)); });
  }
  void ldsRange(WaveView &wave, LaneMask exec, const uint32_t *address, const uint64_t *length, uint32_t info,
                uint32_t site, uint32_t variable) override {
    check(wave, exec, info, site, variable, [&](unsigned lane) { return address[lane]; },
          [&](unsigned lane) { return length[lane]; });
  }
  void genericAccess(WaveView &wave, LaneMask exec, const uint64_t *address, uint32_t info, uint32_t site) override {
    const uint64_t lds = reinterpret_cast<uint64_t>(wave.lds);
    check(wave, inLds(wave, exec, address), info, site, abi::kNoVariable,
          [&](unsigned lane) { return uint32_t(address[lane] - lds); },
          [&](unsigned) { return uint64_t(abi::accessSize(info)); });
  }
  void genericRange(WaveView &wave, LaneMask exec, const uint64_t *address, const uint64_t *length, uint32_t info,
                    uint32_t site) override {
    const uint64_t lds = reinterpret_cast<uint64_t>(wave.lds);
    check(wave, inLds(wave, exec, address), info, site, abi::kNoVariable,
          [&](unsigned lane) { return uint32_t(address[lane] - lds); }, [&](unsigned lane) { return length[lane]; });
  }

  void barrierArrive(WaveView &wave, LaneMask, uint32_t) override {
    if (WorkgroupShadow *s = shadowOf(wave)) {
      const abi::WaveRecord &r = s->state.waves[wave.wave];
      s->state.barrierGeneration[(r.epoch + 1) % abi::kEpochBuffers][wave.wave] =
          core::barrierGenerationOf(r.generation);
    }
  }
  void barrierLeave(WaveView &wave, LaneMask, uint32_t) override {
    if (WorkgroupShadow *s = shadowOf(wave)) {
      abi::WaveRecord &r = s->state.waves[wave.wave];
      ++r.epoch;
      if (core::lostLiveRecord(r.evictedGeneration, s->state.barrierGeneration[r.epoch % abi::kEpochBuffers][wave.wave]))
        ++s->counters.historyOverflow;
    }
  }
  void fence(WaveView &wave, LaneMask, uint32_t info) override {
    if (core::fenceCompletesLds(info))
      nextGeneration(wave);
  }
  void wait(WaveView &wave, LaneMask, uint32_t completed) override {
    if (completed & abi::kWaitLds)
      nextGeneration(wave);
  }

  void workgroupEnd(void *workgroupData) override {
    auto *s = static_cast<WorkgroupShadow *>(workgroupData);
    if (!s)
      return;
    auto *out = reinterpret_cast<abi::DispatchCounters *>(s->context->counters);
    auto add = [](uint64_t &to, uint64_t v) {
      if (v)
        __atomic_fetch_add(&to, v, __ATOMIC_RELAXED);
    };
    add(out->checkedAccesses, s->counters.checkedAccesses);
    add(out->racesSeen, s->counters.racesSeen);
    add(out->racesDropped, s->counters.racesDropped);
    add(out->historyOverflow, s->counters.historyOverflow);
    add(out->generationOverflow, s->counters.generationOverflow);
    add(out->outsideShadow, s->counters.outsideShadow);
    release(s);
  }

private:
  static WorkgroupShadow *shadowOf(const WaveView &wave) { return static_cast<WorkgroupShadow *>(wave.workgroupData); }

  static void nextGeneration(WaveView &wave) {
    if (WorkgroupShadow *s = shadowOf(wave))
      ++s->state.waves[wave.wave].generation;
  }

  static LaneMask inLds(const WaveView &wave, LaneMask exec, const uint64_t *address) {
    const uint64_t lds = reinterpret_cast<uint64_t>(wave.lds);
    LaneMask found = 0;
    for (LaneMask rest = exec; rest; rest &= rest - 1) {
      const unsigned lane = std::countr_zero(rest);
      found |= LaneMask(address[lane] - lds < wave.ldsBytes) << lane;
    }
    return found;
  }

  template <class AddressOf, class SizeOf>
  static void check(WaveView &wave, LaneMask exec, uint32_t info, uint32_t site, uint32_t variable,
                    AddressOf addressOf, SizeOf sizeOf) {
    WorkgroupShadow *s = shadowOf(wave);
    if (!s || exec == 0)
      return;
    ++s->counters.checkedAccesses;
    const abi::WaveRecord &r = s->state.waves[wave.wave];
    const core::Shadow geometry{s->context->granuleLog2, s->context->ldsBytes};
    core::MergingPlatform<HostPlatform> p(*s, wave, site, info, variable);
    core::Accessor a{wave.wave,
                     0,
                     site,
                     core::slotGeneration(r.generation),
                     r.epoch,
                     (abi::accessBits(info) & abi::kAccessWrite) != 0,
                     (abi::accessBits(info) & abi::kAccessAtomic) != 0};
    for (LaneMask rest = exec; rest; rest &= rest - 1) {
      const unsigned lane = std::countr_zero(rest);
      a.lane = p.lane = lane;
      core::AccessResult result = core::accessBytes(p, geometry, a, addressOf(lane), sizeOf(lane));
      s->counters.generationOverflow += result.generationOverflow;
      s->counters.outsideShadow += result.outsideShadow;
    }
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
  std::mutex PoolMutex;
  std::vector<std::unique_ptr<WorkgroupShadow>> Pool;
};

} // namespace

std::unique_ptr<HookHandler> makeNativeHooks() { return std::make_unique<NativeHooks>(); }

} // namespace wavesan::cpu
