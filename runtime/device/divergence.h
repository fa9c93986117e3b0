// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers that not all work-items reach, as far as a wave can see it: behind each barrier it looks where the next wave
// has arrived. That wave may have ended before, or it may have come to another place. If not all are at one place, some
// wave's next one differs from it, so each wave needs to look at one other only. And it looks whether all of its own
// lanes are there.
//
// A place is a site here. Copies of one barrier that the optimiser made are different sites, and bare barriers may meet
// anywhere: the host, which knows the source positions, drops what is in order (DivergenceDetail::bySite).
#ifndef WAVESAN_DEVICE_DIVERGENCE_H
#define WAVESAN_DEVICE_DIVERGENCE_H

#include "global_order.h"

namespace wavesan::device {

/// Two groups of work-items at the barrier that began `epoch`.
struct Meeting {
  uint32_t stateOffset, epoch;
  abi::RaceClass raceClass;
  abi::RaceSide previous, current;
  abi::DivergenceDetail detail;
};

WAVESAN_INLINE void reportMeeting(const Meeting &m) {
  auto *head = ldsAt<abi::WorkgroupState>(m.stateOffset);
  auto *ctx = contextOf(head->context);
  auto *counters = (Global<abi::DispatchCounters> *)ctx->counters;
  abi::RaceRecord r{};
  abi::setDivergence(r, m.detail);
  r.key = abi::raceKey(m.current.site, m.previous.site, m.raceClass);
  r.raceClass = uint32_t(m.raceClass);
  r.space = uint32_t(abi::RaceSpace::None);
  r.workgroup[0] = head->workgroup[0];
  r.workgroup[1] = head->workgroup[1];
  r.workgroup[2] = head->workgroup[2];
  r.epoch = m.epoch - 1;
  r.previous = m.previous;
  r.current = m.current;
  addCounter(&counters->racesSeen, 1);
  TableMemory memory;
  if (!core::addRace(memory, (abi::RaceTable *)(Global<abi::RaceTable> *)ctx->raceTable, r))
    addCounter(&counters->racesDropped, 1);
}

/// Did this wave end before it arrived at the barrier that began `epoch`?
WAVESAN_INLINE bool endedBefore(uint32_t stateOffset, uint32_t epoch, uint32_t wave) {
  const uint32_t end = loadShared(&recordOf(stateOffset, wave)->endEpoch);
  return end != 0 && end <= epoch;
}

/// Behind a barrier, by all its lanes. `record`: LDS byte offset of the wave's record, its epoch the new one; `lanes`:
/// lanes of the wave that exist.
extern "C" WAVESAN_OUT_OF_LINE void __wavesan_barrier_met(uint32_t record, uint32_t site, uint32_t waves,
                                                          uint32_t lanes) {
  makeUniform(record, site, waves, lanes);
  joinWorkgroup(OrderView(record), waves);
  auto *own = ldsAt<abi::WaveRecord>(record);
  const Shape shape(uniform(own->shape));
  const uint32_t state = shape.stateOffset(), wave = shape.wave();
  const uint32_t epoch = uniform(loadShared(&own->epoch)), ended = uniform(loadShared(&own->lanesEnded));
  const uint32_t next = wave + 1 == waves ? 0 : wave + 1;
  const uint32_t there = uniform(loadShared(arrivedAt(state, epoch, next)));
  const bool gone = uniform(uint32_t(endedBefore(state, epoch, next))) != 0;
  const uint64_t here = __builtin_amdgcn_read_exec();
  const bool part = uint32_t(__builtin_popcountll(here)) != lanes, together = !gone && there == site;
  if (__builtin_expect(together && !part, 1) || !isFirstActiveLane())
    return;
  const uint64_t all = lanes >= 64 ? ~0ull : (1ull << lanes) - 1;
  const auto waveSize = contextOf(ldsAt<abi::WorkgroupState>(state)->context)->waveSize;
  Meeting m{};
  m.stateOffset = state;
  m.epoch = epoch;
  m.detail.bySite = true;
  // Nobody but the wave itself writes there, and it has not come to the next barrier yet.
  m.detail.line = epoch > 1 ? loadShared(arrivedAt(state, epoch - 1, wave)) + 1 : 0;
  m.detail.lanes[0] = here;
  m.previous = {site, uint16_t(wave), uint8_t(__builtin_ctzll(here)), 0};
  if (together) {
    const uint64_t missing = all & ~here;
    const bool allGone = uint32_t(__builtin_popcountll(missing)) == ended;
    m.raceClass = allGone ? abi::RaceClass::EarlyExit : abi::RaceClass::BarrierDivergence;
    m.detail.apart = !allGone;
    m.detail.lanes[1] = missing;
    m.detail.waves[0] = m.detail.waves[1] = 1u << wave;
    m.current = {allGone ? abi::kNoSite : site, uint16_t(wave), uint8_t(__builtin_ctzll(missing)), 0};
  } else {
    m.raceClass = gone ? abi::RaceClass::EarlyExit : abi::RaceClass::BarrierDivergence;
    m.detail.lanes[1] = waveSize >= 64 ? ~0ull : (1ull << waveSize) - 1; // what is known of another wave
    for (uint32_t w = 0; w < waves; ++w) {
      const bool out = endedBefore(state, epoch, w);
      const uint32_t at = loadShared(arrivedAt(state, epoch, w));
      m.detail.waves[0] |= uint32_t(!out && at == site) << w;
      m.detail.waves[1] |= uint32_t(gone ? out : !out && at == there) << w;
    }
    m.current = {gone ? abi::kNoSite : there, uint16_t(next), 0, 0};
  }
  reportMeeting(m);
}

} // namespace wavesan::device

#endif // WAVESAN_DEVICE_DIVERGENCE_H
