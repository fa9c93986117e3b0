// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lds_check.h"

#include <algorithm>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

// The loops over lanes are worth vector instructions where the processor has them.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !__has_feature(thread_sanitizer)
#define WAVESAN_LANE_LOOP __attribute__((target_clones("avx2", "default")))
#else
#define WAVESAN_LANE_LOOP
#endif

namespace wavesan::cpu {
namespace {

/// What the wave knows, as one bound per wave: see WorkgroupShadow::Floors.
const uint32_t *floorsOf(WorkgroupShadow &s, uint32_t wave) {
  WorkgroupShadow::Floors &f = s.floors[wave];
  if (!f.current) {
    const WaveClock &clock = s.order->wave(wave).clock;
    const uint32_t epoch = s.state.waves[wave].epoch;
    for (uint32_t w = 0; w < abi::kMaxWavesPerWorkgroup; ++w) {
      const uint32_t end = s.state.waves[w].endEpoch;
      f.floor[w] = end != 0 && epoch >= end ? UINT32_MAX : clock.local[boundIndex(kLds, w)];
      f.floor[core::copiesOf(w)] = clock.local[boundIndex(kCopies, w)];
    }
    f.current = true;
  }
  return f.floor;
}

/// What core::checkGranule would do for one granule, where there is no conflict and no other access's record is lost.
enum class Step : uint32_t {
  Store0,                        ///< record the access in slot 0 (to 3) ...
  Nothing = core::kSlotsPerCell, ///< it is recorded already
  NotRecorded,                   ///< two live records of other waves stand for it
  AskTheCore                     ///< there may be a conflict or a loss
};

/// Which slot holds what differs from granule to granule, so the rows of the table in lds_detector.h are computed for
/// all slots at once, a bit for each, rather than by branches that no processor predicts.
Step stepFor(const uint64_t *cell, const core::Accessor &a, const uint32_t *floors) {
  uint32_t used = 0, live = 0, own = 0, atomic = 0, current = 0;
  for (uint32_t i = 0; i < core::kSlotsPerCell; ++i) {
    const core::Slot s(cell[i]);
    used |= uint32_t(!s.empty()) << i;
    live |= uint32_t(s.generation() >= floors[s.wave()]) << i;
    own |= uint32_t(s.wave() == a.wave) << i;
    atomic |= uint32_t(s.atomic()) << i;
    current |= uint32_t(s.generation() == a.generation) << i;
  }
  live &= used;
  own &= used;
  constexpr uint32_t writers = (1u << core::kReaderSlots) - 1, readers = writers << core::kReaderSlots;
  if (live & ~own & (a.write ? ~0u : writers) & (a.atomic ? ~atomic : ~0u))
    return Step::AskTheCore;
  // The rows that lose no record or the new one, in their order; only the accessor's side matters now.
  const uint32_t shift = a.write ? core::kWriterSlots : core::kReaderSlots, side = a.write ? writers : readers;
  const uint32_t mayStand = a.atomic ? ~0u : ~atomic; // a plain record stands for an atomic access as well
  if (own & current & mayStand & side)
    return Step::Nothing;
  const uint32_t replaced = own & (a.atomic ? atomic : ~0u) & side, vacant = ~live & side;
  if (const uint32_t choice = replaced ? replaced : vacant)
    return Step(std::countr_zero(choice));
  if ((own & side) || (!a.atomic && (atomic & side)) ||
      core::waveOf(core::Slot(cell[shift]).wave()) == core::waveOf(core::Slot(cell[shift + 1]).wave()))
    return Step::AskTheCore;
  return Step::NotRecorded;
}

/// Steps for the granules of one access. Neighbouring cells mostly look alike, and what does not differ in waves,
/// generations and atomicity calls for the same step.
struct Steps {
  const core::Accessor &a;
  const uint32_t *floors;
  uint64_t last[core::kSlotsPerCell] = {};
  Step step = Step::AskTheCore;
  bool any = false;

  Step operator()(const uint64_t *cell) {
    uint64_t differs = !any;
    for (uint32_t i = 0; i < core::kSlotsPerCell; ++i)
      differs |= (cell[i] ^ last[i]) & kDecides;
    if (differs) {
      std::copy(cell, cell + core::kSlotsPerCell, last);
      step = stepFor(cell, a, floors);
      any = true;
    }
    return step;
  }
  static constexpr uint64_t kDecides =
      core::Slot(2 * abi::kMaxWavesPerWorkgroup - 1, 0, 0, core::Slot::kMaxGeneration, 0, true).bits();
};

} // namespace

WAVESAN_LANE_LOOP Window windowOf(const uint32_t *address, LaneMask exec, uint32_t size, uint32_t shift) {
  // Inactive lanes stand where the first active one does.
  const uint32_t first = address[std::countr_zero(exec)];
  uint32_t at[64], low = UINT32_MAX, high = 0;
  for (unsigned l = 0; l < 64; ++l) {
    at[l] = exec >> l & 1 ? address[l] : first;
    low = std::min(low, at[l]);
    high = std::max(high, at[l]);
  }
  Window w;
  w.base = low >> shift;
  if (high + size < high || ((high + size - 1) >> shift) - w.base >= 64)
    return w;
  uint32_t bits = 0;
  for (unsigned l = 0; l < 64; ++l)
    bits |= at[l];
  w.oneEach = size <= 1u << shift && (bits & (size - 1)) == 0 && std::has_single_bit(size);
  if (w.oneEach) {
    for (unsigned l = 0; l < 64; ++l)
      w.granule[l] = uint8_t((at[l] >> shift) - w.base);
    for (unsigned l = 0; l < 64; ++l)
      w.granules |= uint64_t(1) << ((at[l] >> shift) - w.base);
    return w;
  }
  for (unsigned l = 0; l < 64; ++l) {
    const uint64_t begin = (at[l] >> shift) - w.base, last = ((at[l] + size - 1) >> shift) - w.base;
    w.granules |= ((uint64_t(2) << last) - 1) & ~((uint64_t(1) << begin) - 1);
  }
  return w;
}

unsigned firstLane(const Window &window, LaneMask exec, uint32_t bit) {
  LaneMask touching = 0;
#ifdef __SSE2__
  const __m128i wanted = _mm_set1_epi8(char(bit));
  for (unsigned part = 0; part < 4; ++part) {
    const __m128i lanes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(window.granule + 16 * part));
    touching |= LaneMask(uint32_t(_mm_movemask_epi8(_mm_cmpeq_epi8(lanes, wanted)))) << (16 * part);
  }
#else
  for (unsigned l = 0; l < 64; ++l)
    touching |= LaneMask(window.granule[l] == bit) << l;
#endif
  return unsigned(std::countr_zero(touching & exec));
}

void firstLanes(const Window &window, const uint32_t *address, LaneMask exec, uint32_t size, uint32_t shift,
                uint8_t (&lanes)[64]) {
  while (exec) {
    const unsigned l = 63u - unsigned(std::countl_zero(exec));
    exec &= ~(LaneMask(1) << l);
    const uint32_t last = ((address[l] + size - 1) >> shift) - window.base;
    for (uint32_t g = (address[l] >> shift) - window.base; g <= last; ++g)
      lanes[g] = uint8_t(l);
  }
}

void checkLdsCopy(WorkgroupShadow &s, const WaveView &wave, LaneMask exec, const uint32_t *address, uint32_t info,
                  uint32_t site, uint32_t variable, uint32_t number) {
  if (exec == 0)
    return;
  ++s.counters.checkedAccesses;
  const uint32_t size = abi::accessSize(info);
  uint32_t at[64];
  const uint32_t first = address[std::countr_zero(exec)];
  for (LaneMask rest = exec; rest; rest &= rest - 1) {
    const unsigned lane = unsigned(std::countr_zero(rest));
    at[lane] = info & abi::kCopyConsecutive ? first + lane * abi::copyStride(size) : address[lane];
  }
  core::Accessor a = accessorOf(s, wave.wave, info, site);
  a.wave = core::copiesOf(wave.wave);
  a.generation = number;
  checkLanes(s, wave, exec, at, [&](unsigned) { return uint64_t(size); }, info, site, variable, a);
}

void checkLds(WorkgroupShadow &s, const WaveView &wave, LaneMask exec, const uint32_t *address, uint32_t size,
              uint32_t info, uint32_t site, uint32_t variable) {
  if (exec == 0)
    return;
  ++s.counters.checkedAccesses;
  const uint32_t shift = s.context->granuleLog2;
  HostPlatform p(s, wave, site, info, variable);
  core::Accessor a = accessorOf(s, wave.wave, info, site);
  LaneMask open = exec; // lanes that the core must look at
  const Window window = size != 0 ? windowOf(address, exec, size, shift) : Window{};
  const uint64_t end = window.granules ? window.base + uint64_t(64 - std::countl_zero(window.granules)) : 0;
  // Bytes behind the shadow are the core's business, and so are the rare overflows.
  if (window.granules && end << shift <= s.context->ldsBytes && a.generation <= core::Slot::kMaxGeneration) {
    const uint32_t *floors = floorsOf(s, wave.wave);
    uint64_t unsettled = 0;
    uint8_t lanes[64];
    bool lanesKnown = false;
    Steps steps{a, floors};
    for (uint64_t rest = window.granules; rest; rest &= rest - 1) {
      const uint32_t bit = uint32_t(std::countr_zero(rest));
      uint64_t *cell = &s.cells[size_t(window.base + bit) * core::kSlotsPerCell];
      const Step step = steps(cell);
      if (step < Step::Nothing) {
        if (!window.oneEach && !lanesKnown) {
          firstLanes(window, address, exec, size, shift, lanes);
          lanesKnown = true;
        }
        a.lane = window.oneEach ? firstLane(window, exec, bit) : lanes[bit];
        cell[uint32_t(step)] = a.slot().bits();
      } else if (step == Step::NotRecorded)
        p.evicted(a.wave, a.generation);
      else if (step == Step::AskTheCore)
        unsettled |= uint64_t(1) << bit;
    }
    if (unsettled == 0)
      return;
    open = 0;
    for (LaneMask rest = exec; rest; rest &= rest - 1) {
      const unsigned l = unsigned(std::countr_zero(rest));
      const uint64_t begin = (address[l] >> shift) - window.base,
                     last = ((address[l] + size - 1) >> shift) - window.base;
      if (unsettled & ((uint64_t(2) << last) - 1) & ~((uint64_t(1) << begin) - 1))
        open |= LaneMask(1) << l;
    }
  }
  checkLanes(s, wave, open, address, [&](unsigned) { return uint64_t(size); }, info, site, variable, a);
}

} // namespace wavesan::cpu
