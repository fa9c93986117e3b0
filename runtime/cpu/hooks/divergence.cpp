// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "divergence.h"

#include <algorithm>
#include <bit>

namespace wavesan::cpu {

void DivergenceCheck::start(uint32_t waves) {
  WaveCount = waves;
  Begun = LaneCount = 0;
  Waves.clear();
  Waves.resize(waves);
  Steps.clear();
  Ends.clear();
  First = 0;
  Found = kNone;
  Map = nullptr;
}

void DivergenceCheck::begin(const WaveView &wave, LaneMask lanes) {
  Map = wave.barriers;
  ++Begun;
  LaneCount += uint32_t(std::popcount(lanes));
  Waves[wave.wave].live = lanes;
}

template <class F> void DivergenceCheck::forEachStep(const WaveTrack &track, LaneMask lanes, F &&f) {
  if (track.uniform) {
    if (lanes)
      f(track.passed, lanes);
    return;
  }
  for (LaneMask rest = lanes; rest;) {
    const uint64_t step = track.lanePassed[std::countr_zero(rest)];
    LaneMask same = 0;
    for (LaneMask r = rest; r; r &= r - 1)
      same |= LaneMask(track.lanePassed[std::countr_zero(r)] == step) << std::countr_zero(r);
    rest &= ~same;
    f(step, same);
  }
}

void DivergenceCheck::advance(WaveTrack &track, LaneMask lanes) {
  if (track.uniform && lanes == track.live) {
    ++track.passed;
    return;
  }
  if (track.uniform) {
    if (!track.lanePassed)
      track.lanePassed = std::make_unique<uint64_t[]>(64);
    std::fill_n(track.lanePassed.get(), 64, track.passed);
    track.uniform = false;
  }
  for (LaneMask rest = lanes; rest; rest &= rest - 1)
    ++track.lanePassed[std::countr_zero(rest)];
  if (!track.live)
    return;
  const uint64_t first = track.lanePassed[std::countr_zero(track.live)];
  for (LaneMask rest = track.live; rest; rest &= rest - 1)
    if (track.lanePassed[std::countr_zero(rest)] != first)
      return;
  track.uniform = true;
  track.passed = first;
}

void DivergenceCheck::copyTurns(const WaveView &wave, uint32_t lane, uint32_t (&turns)[kMaxTurns], uint32_t &count) {
  count = 0;
  for (uint32_t i = 0; i < wave.turnCount && count < kMaxTurns; ++i)
    if (wave.turns[i].lanes >> lane & 1)
      turns[count++] = wave.turns[i].turn;
}

void DivergenceCheck::arrive(const WaveView &wave, LaneMask exec, uint32_t site) {
  WaveTrack &track = Waves[wave.wave];
  const BarrierMap::Barrier barrier = wave.barriers ? wave.barriers->barrier(site) : BarrierMap::Barrier{site, false};
  const LaneMask lanes = barrier.bare ? track.live : exec & track.live;
  forEachStep(track, lanes, [&](uint64_t step, LaneMask same) { place(wave, step, same, site, barrier); });
  track.lastSource = barrier.bare ? BarrierMap::kEnd : barrier.source;
  advance(track, lanes);
  dropPassed();
}

void DivergenceCheck::place(const WaveView &wave, uint64_t step, LaneMask lanes, uint32_t site,
                            BarrierMap::Barrier barrier) {
  if (Found != kNone && step > Found)
    return;
  while (First + Steps.size() <= step)
    Steps.emplace_back();
  Step &s = Steps[step - First];
  s.arrived += uint32_t(std::popcount(lanes));
  Group *group = nullptr;
  for (Group &g : s.groups)
    if (g.bare == barrier.bare && (barrier.bare || g.source == barrier.source))
      group = &g;
  const bool isNew = !group;
  if (isNew) {
    group = &s.groups.emplace_back();
    group->source = barrier.source;
    group->bare = barrier.bare;
    group->site = site;
  }
  if (const auto lane = uint32_t(std::countr_zero(lanes));
      isNew || std::pair(wave.wave, lane) < std::pair(group->wave, group->lane)) {
    group->wave = wave.wave;
    group->lane = lane;
    group->lastSource = Waves[wave.wave].lastSource;
    copyTurns(wave, lane, group->turns, group->turnCount);
  }
  LaneMask &mine = group->lanes[wave.wave];
  const bool apart = mine != 0 && !barrier.bare;
  if (apart && group->apartWave == kNoWave) {
    group->apartWave = wave.wave;
    group->apartLanes = lanes;
  }
  mine |= lanes;
  if (isNew || apart)
    judge(step);
}

void DivergenceCheck::end(const WaveView &wave, LaneMask exec) {
  WaveTrack &track = Waves[wave.wave];
  forEachStep(track, exec & track.live, [&](uint64_t step, LaneMask same) {
    Ended e{};
    e.step = step;
    e.lanes = uint32_t(std::popcount(same));
    e.wave = wave.wave;
    e.mask = same;
    e.lastSource = track.lastSource;
    copyTurns(wave, uint32_t(std::countr_zero(same)), e.turns, e.turnCount);
    Ends.push_back(e);
    for (uint64_t s = std::max(step, First); s < First + Steps.size(); ++s)
      judge(s);
  });
  track.live &= ~exec;
  if (!track.uniform)
    advance(track, 0);
  dropPassed();
}

bool DivergenceCheck::conflicts(const Group &a, const Group &b) const {
  if (a.bare || b.bare) // only a barrier of the language minds
    return a.bare != b.bare && a.source != BarrierMap::kEnd && b.source != BarrierMap::kEnd;
  const bool unknown = a.source == BarrierMap::kAnySource || b.source == BarrierMap::kAnySource;
  const bool end = a.source == BarrierMap::kEnd || b.source == BarrierMap::kEnd;
  return a.source != b.source && (!unknown || end);
}

/// Looks at a step again after something new has happened there.
void DivergenceCheck::judge(uint64_t step) {
  if (Found <= step)
    return;
  const std::vector<Group> &groups = Steps[step - First].groups;
  bool found = false, language = false;
  for (const Group &g : groups) {
    found |= g.apartWave != kNoWave;
    language |= !g.bare;
    for (const Group &h : groups)
      found |= conflicts(g, h);
  }
  for (const Ended &e : Ends)
    found |= language && e.step <= step;
  if (found)
    Found = step;
}

/// Forgets steps that every lane has passed.
void DivergenceCheck::dropPassed() {
  while (Found == kNone && Begun == WaveCount && !Steps.empty()) {
    uint32_t missing = LaneCount - Steps.front().arrived;
    for (const Ended &e : Ends)
      if (e.step <= First)
        missing -= e.lanes;
    if (missing)
      return;
    Steps.pop_front();
    ++First;
  }
}

/// Everybody who had ended instead of taking part in the step.
DivergenceCheck::Group DivergenceCheck::endGroup(uint64_t step) const {
  Group group;
  bool any = false;
  for (const Ended &e : Ends) {
    if (e.step > step)
      continue;
    const uint32_t lane = uint32_t(std::countr_zero(e.mask));
    if (!any || std::pair(e.wave, lane) < std::pair(group.wave, group.lane)) {
      group.wave = e.wave;
      group.lane = lane;
      group.lastSource = e.lastSource;
      std::copy_n(e.turns, kMaxTurns, group.turns);
      group.turnCount = e.turnCount;
    }
    any = true;
    group.lanes[e.wave] |= e.mask;
  }
  return group;
}

/// `inside` waits again at the barrier that both come from: they are in different rounds of a loop.
bool DivergenceCheck::isLoop(const Group &inside, const Group &outside) {
  return inside.source < BarrierMap::kEnd && inside.lastSource == inside.source && outside.lastSource == inside.source;
}

abi::RaceRecord DivergenceCheck::record(const Group &previous, const Group &current) const {
  const bool ends = current.source == BarrierMap::kEnd;
  abi::RaceRecord r{};
  abi::DivergenceDetail detail{};
  r.raceClass = uint32_t(ends ? abi::RaceClass::EarlyExit : abi::RaceClass::BarrierDivergence);
  r.epoch = uint32_t(Found);
  const Group *sides[] = {&previous, &current};
  for (int i = 0; i < 2; ++i) {
    for (uint32_t w = 0; w < WaveCount; ++w)
      detail.waves[i] |= uint32_t(sides[i]->lanes[w] != 0) << w;
    detail.lanes[i] = sides[i]->lanes[sides[i]->wave];
  }
  r.previous = {previous.site, uint16_t(previous.wave), uint8_t(previous.lane), 0};
  r.current = {current.site, uint16_t(current.wave), uint8_t(current.lane), 0};
  detail.uneven = isLoop(previous, current);
  // Where the current group left the way to the other barrier; or, where it did not (it went on in a straight line),
  // where the others left the way to its own.
  auto turnAgainst = [&](const Group &who, uint32_t source) {
    for (uint32_t i = 0; Map && i < who.turnCount && !detail.line; ++i) {
      if (!Map->leaves(who.turns[i], source))
        continue;
      const BarrierMap::Position p = Map->position(who.turns[i], previous.site);
      if (p.depth > UINT8_MAX)
        continue;
      detail.line = p.line;
      detail.column = uint16_t(std::min<uint32_t>(p.column, UINT16_MAX));
      detail.depth = uint8_t(p.depth);
    }
  };
  turnAgainst(current, previous.source);
  turnAgainst(previous, current.source);
  abi::setDivergence(r, detail);
  return r;
}

abi::RaceRecord DivergenceCheck::apartRecord(const Group &group) const {
  Group first = group, later = group;
  first.wave = later.wave = group.apartWave;
  first.lanes[first.wave] = group.lanes[group.apartWave] & ~group.apartLanes;
  later.lanes[later.wave] = group.apartLanes;
  first.lane = uint32_t(std::countr_zero(first.lanes[first.wave]));
  later.lane = uint32_t(std::countr_zero(later.lanes[later.wave]));
  first.turnCount = later.turnCount = 0;
  abi::RaceRecord r = record(first, later);
  abi::DivergenceDetail detail = abi::divergenceOf(r);
  detail.apart = true;
  detail.waves[0] = detail.waves[1] = uint32_t(1) << group.apartWave;
  abi::setDivergence(r, detail);
  return r;
}

void DivergenceCheck::finish(const std::function<void(abi::RaceRecord &)> &found) const {
  if (Found == kNone)
    return;
  std::vector<Group> groups = Steps[Found - First].groups;
  auto pass = [&](abi::RaceRecord r) { found(r); };
  for (const Group &g : groups)
    if (g.apartWave != kNoWave)
      pass(apartRecord(g));
  std::sort(groups.begin(), groups.end(), [](const Group &a, const Group &b) {
    return std::tuple(a.bare, a.wave, a.lane) < std::tuple(b.bare, b.wave, b.lane);
  });
  if (groups.empty() || groups.front().bare)
    return;
  // Each of the others against the first: two records for three barriers.
  const Group &first = groups.front();
  for (size_t i = 1; i < groups.size(); ++i)
    if (conflicts(first, groups[i]))
      pass(isLoop(groups[i], first) ? record(groups[i], first) : record(first, groups[i]));
  if (Group ended = endGroup(Found);
      std::any_of(std::begin(ended.lanes), std::end(ended.lanes), [](LaneMask m) { return m; }))
    pass(record(first, ended));
}

} // namespace wavesan::cpu
