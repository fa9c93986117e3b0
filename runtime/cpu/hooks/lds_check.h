// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One LDS access of a wave through the detector core.
//
// The core checks one granule for one lane. Lanes of an instruction mostly touch one granule or neighbouring ones, and
// most cells hold nothing that could conflict. The fast path settles rows of such granules at once, with the effect
// that the lanes would have one by one; lanes with a granule that it cannot settle go through core::accessBytes. A test
// runs both side by side (test/hooks/lds_check_test.cpp).
#ifndef WAVESAN_CPU_LDS_CHECK_H
#define WAVESAN_CPU_LDS_CHECK_H

#include "workgroup_shadow.h"

#include <bit>

namespace wavesan::cpu {

/// The detector's Platform (core/lds_detector.h) over a WorkgroupShadow.
struct HostPlatform {
  WorkgroupShadow &shadow;
  const uint32_t *workgroup;
  uint32_t wave, lane, site, access, epoch, variable;
  static constexpr bool kKnowsCopies = true;

  HostPlatform(WorkgroupShadow &s, const WaveView &view, uint32_t site, uint32_t info, uint32_t variable)
      : shadow(s), workgroup(view.workgroup), wave(view.wave), lane(0), site(site), access(abi::accessBits(info)),
        epoch(s.state.waves[view.wave].epoch), variable(variable) {}

  uint64_t load(uint32_t cell, uint32_t slot) { return shadow.slot(cell, slot); }
  bool compareExchange(uint32_t cell, uint32_t slot, uint64_t &, uint64_t desired) {
    shadow.slot(cell, slot) = desired;
    return true;
  }
  void publishBeforeLook() {}
  uint32_t barrierGeneration(uint32_t, uint32_t w) { return shadow.retiredBelow(wave, w); }
  /// Through atomics on LDS or on global memory, too.
  bool comesBefore(core::Slot s) { return s.generation() < shadow.knownBelow(wave, s.wave()); }
  /// Nobody waits for the copies of a wave that ends.
  uint32_t endEpoch(uint32_t w) { return core::isCopies(w) ? 0 : shadow.state.waves[w].endEpoch; }
  void evicted(uint32_t w, uint32_t generation) {
    if (core::isCopies(w)) {
      // A copy that writes and finds two live writers is in conflict with one of them, and reported.
      shadow.counters.historyOverflow += (access & abi::kAccessWrite) == 0;
      return;
    }
    evicted(w, generation, 1);
  }
  /// `count` cells lose a record of a wave.
  void evicted(uint32_t w, uint32_t generation, uint64_t count) {
    uint32_t &e = shadow.state.waves[w].evictedGeneration;
    if (e < generation + 1)
      e = generation + 1;
    // The argument for dropping records knows barriers only; where atomics order waves one by one every loss counts.
    shadow.evictions += count;
    if (shadow.orderedByAtomics)
      shadow.counters.historyOverflow += count;
  }
  void conflictRange(const core::ConflictRange &c) {
    abi::RaceRecord r{};
    const abi::RaceClass raceClass = classOf(c);
    r.key = abi::raceKey(site, c.previous.site(), raceClass);
    r.raceClass = uint32_t(raceClass);
    r.space = uint32_t(abi::RaceSpace::Lds);
    r.address = c.address;
    r.size = c.size;
    r.variableOffset = variable == abi::kNoVariable ? abi::kNoVariable : c.address - variable;
    for (int i = 0; i < 3; ++i)
      r.workgroup[i] = r.previousWorkgroup[i] = workgroup[i];
    r.epoch = epoch;
    r.neededScope = uint32_t(raceClass == abi::RaceClass::ScopeTooSmall ? abi::Scope::Workgroup : abi::Scope{});
    r.current = {site, uint16_t(wave), uint8_t(lane), uint8_t(access)};
    r.previous = {c.previous.site(), uint16_t(core::waveOf(c.previous.wave())), uint8_t(c.previous.lane()),
                  uint8_t((c.previousWrites ? abi::kAccessWrite : abi::kAccessRead) |
                          (c.previous.atomic() ? abi::kAccessAtomic : 0u))};
    report(shadow, r);
  }
  /// A copy that its own wave or, behind a barrier, another one meets too early lacks a wait. Without a barrier between
  /// two waves the wait alone would not do.
  abi::RaceClass classOf(const core::ConflictRange &c) const {
    if (core::isCopies(c.previous.wave()) &&
        (core::waveOf(c.previous.wave()) == wave || c.raceClass == abi::RaceClass::MissingFence))
      return abi::RaceClass::MissingWait;
    // Fences and atomics that would have ordered the two, had their scopes been wide enough.
    const uint32_t earlier = c.previous.wave();
    if (!core::isCopies(earlier) &&
        c.previous.generation() < shadow.order->wave(wave).wide.local[boundIndex(kLds, earlier)])
      return abi::RaceClass::ScopeTooSmall;
    if (!core::isCopies(earlier) && shadow.named && shadow.named->between(wave, earlier, kLds, c.previous.generation()))
      return abi::RaceClass::MissingFence;
    return c.raceClass;
  }
};

/// The accessor of an access of this wave, without its lane.
inline core::Accessor accessorOf(const WorkgroupShadow &s, uint32_t wave, uint32_t info, uint32_t site) {
  const abi::WaveRecord &r = s.state.waves[wave];
  return {wave,
          0,
          site,
          core::slotGeneration(r.generation),
          r.epoch,
          (abi::accessBits(info) & abi::kAccessWrite) != 0,
          abi::atomicInWorkgroup(info),
          (info & abi::kAccessOneInstruction) == 0 && s.order->wave(wave).copies.allKnownToCompiler()};
}

/// Lane by lane: lane i of `exec` touches sizeOf(i) bytes from address[i] on. `a`: who accesses.
template <class SizeOf>
void checkLanes(WorkgroupShadow &s, const WaveView &wave, LaneMask exec, const uint32_t *address, SizeOf sizeOf,
                uint32_t info, uint32_t site, uint32_t variable, core::Accessor a) {
  core::MergingPlatform<HostPlatform> p(s, wave, site, info, variable);
  const core::Shadow geometry{s.context->granuleLog2, s.shadowedBytes};
  for (LaneMask rest = exec; rest; rest &= rest - 1) {
    const unsigned lane = unsigned(std::countr_zero(rest));
    a.lane = p.lane = lane;
    core::AccessResult result = core::accessBytes(p, geometry, a, address[lane], sizeOf(lane));
    s.counters.generationOverflow += result.generationOverflow;
    (s.shadowedBytes < s.context->ldsBytes ? s.counters.outsideBudget : s.counters.outsideShadow) +=
        result.outsideShadow;
  }
}

/// Checks one access of a wave: every lane of `exec` touches `size` bytes from LDS byte address[lane] on.
void checkLds(WorkgroupShadow &s, const WaveView &wave, LaneMask exec, const uint32_t *address, uint32_t size,
              uint32_t info, uint32_t site, uint32_t variable);

/// For tests: whether checkLds does without the instructions that not every processor has. Call while nobody checks.
void checkLdsWithoutVectors(bool portable);

/// Checks the LDS side of an asynchronous copy of this wave, its number `number`. `info`: abi::copyInfo().
void checkLdsCopy(WorkgroupShadow &s, const WaveView &wave, LaneMask exec, const uint32_t *address, uint32_t info,
                  uint32_t site, uint32_t variable, uint32_t number);

/// The same with a length for each lane.
inline void checkLdsRange(WorkgroupShadow &s, const WaveView &wave, LaneMask exec, const uint32_t *address,
                          const uint64_t *length, uint32_t info, uint32_t site, uint32_t variable) {
  if (exec == 0)
    return;
  ++s.counters.checkedAccesses;
  checkLanes(
      s, wave, exec, address, [&](unsigned lane) { return length[lane]; }, info, site, variable,
      accessorOf(s, wave.wave, info, site));
}

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_LDS_CHECK_H
