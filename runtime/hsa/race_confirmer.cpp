// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "race_confirmer.h"

#include "agent_schedule.h"
#include "order_delays.h"
#include "output_compare.h"
#include "tool.h"

#include <algorithm>
#include <optional>

namespace wavesan::hsa {

namespace {

using Verdict = report::Confirmation::Verdict;

/// One for each preference.
constexpr uint32_t kLeastSeeds = 2;

abi::Schedule::Side sideOf(const abi::RaceSide &side, const uint32_t (&workgroup)[3]) {
  return {side.site, {workgroup[0], workgroup[1], workgroup[2]}, side.wave};
}

/// Null, or why these two accesses cannot be told to go first or second.
const char *whyNotForced(const abi::RaceRecord &record, const report::Race &race) {
  if (abi::isDivergence(abi::RaceClass(record.raceClass)))
    return "it is none of two accesses";
  if (!race.betweenWorkgroups() && record.current.wave == record.previous.wave)
    return "both accesses belong to one wave";
  return nullptr;
}

} // namespace

RaceConfirmer::RaceConfirmer(const abi::Options &options, const abi::CpuAgent *agent)
    : On(options.confirm), FirstSeed(options.seed), Seeds(std::max<uint32_t>(options.confirm_seeds, kLeastSeeds)),
      MostRaces(options.confirm_max), ByDelays(!agent || options.hooks != "native"), Agent(agent) {}

bool RaceConfirmer::wants(const Kernel &kernel) const {
  return On && kernel.twin && kernel.problem.empty() && !kernel.filtered;
}

bool RaceConfirmer::pass(PacketHost &host, uint64_t number, const abi::Schedule &schedule) {
  std::optional<ScheduleSet> set;
  if (Agent)
    set.emplace(*Agent, schedule);
  std::shared_ptr<abi::Delays> delays;
  if (ByDelays)
    delays = std::make_shared<abi::Delays>(delaysFor(schedule));
  host.setDelays(delays);
  const bool ended = host.pass(number, 1u << WAVESAN_CONTEXT_RACE_CHECK).ended;
  host.setDelays(nullptr);
  return ended && (delays ? orderMade(*delays) : set->orderMade());
}

report::Confirmation RaceConfirmer::verdict(Tool &tool, PacketHost &host, const Kernel &kernel,
                                            const DispatchRace &race, uint64_t dispatch) {
  if (const char *why = whyNotForced(race.record, race.race))
    return {.reason = why};
  if (Tried.fetch_add(1, std::memory_order_relaxed) >= MostRaces)
    return {.reason = "option confirm_max"};
  const Snapshot &before = host.memory();
  // Of LDS, a record names one workgroup.
  const bool lds = race.record.space == uint32_t(abi::RaceSpace::Lds);
  abi::Schedule::Side current = sideOf(race.record.current, race.record.workgroup),
                      previous =
                          sideOf(race.record.previous, lds ? race.record.workgroup : race.record.previousWorkgroup);
  // The bytes that both touch, so that what a site does elsewhere, in other rounds of a loop, is not taken for it.
  abi::Schedule schedule{.forced = !ByDelays, .lds = lds, .begin = race.record.address, .bytes = race.record.size};
  if (ByDelays)
    for (abi::Schedule::Side *side : {&current, &previous}) {
      const uint32_t last = lastSiteOf(kernel.object->sites(), side->site);
      if (last != side->site) // whose bytes are others
        schedule.bytes = 0;
      side->site = last;
    }
  OutputGroup groups[2] = {OutputGroup(before), OutputGroup(before)};
  std::optional<OutputGroup::Place> place;
  report::Confirmation result{.seed = FirstSeed};
  // What looks like an effect of the order is tried again under as many other seeds.
  for (uint32_t seed = 0; seed < (place ? 2 * Seeds : Seeds); ++seed) {
    for (int order = 0; order < 2; ++order) {
      host.restore();
      schedule.seed = FirstSeed + seed;
      // Of every two seeds, one lets the wave that is first do everything else early, and one late.
      schedule.preferFirst = seed % 2 == 0;
      schedule.first = order == 0 ? current : previous;
      schedule.second = order == 0 ? previous : current;
      const bool made = pass(host, ++result.passes, schedule);
      (order == 0 ? result.reversed : result.asReported) += made;
      if (host.failed())
        return {.reason = "the dispatch fails when its accesses are ordered otherwise"};
      PassOutput output;
      std::string error;
      if (!output.read(before, tool.tiers.limit(Tier::Pageable) / 8, error))
        return {.reason = error};
      groups[order].add(std::move(output));
    }
    place = seed + 1 < Seeds ? std::nullopt : OutputGroup::firstDifference(groups[0], groups[1]);
  }
  for (const OutputGroup &group : groups)
    if (!group.error().empty())
      return {.reason = group.error()};
  if (place) {
    result.verdict = Verdict::Confirmed;
    result.place = tool.memory.find(before.saved()[place->region].range.begin + place->offset, dispatch);
  } else {
    result.verdict = groups[0].varies() || groups[1].varies() || OutputGroup::differ(groups[0], groups[1])
                         ? Verdict::OutputDiffers
                         : Verdict::NotObserved;
  }
  return result;
}

void RaceConfirmer::confirm(Tool &tool, PacketHost &host, const Kernel &kernel, const std::vector<DispatchRace> &races,
                            uint64_t dispatch) {
  if (std::none_of(races.begin(), races.end(), [](const DispatchRace &race) { return race.isNew; }))
    return;
  // The program sees what the first pass left.
  PacketHost::Kept kept(host);
  const char *why = kept.whyNot();
  host.setQuiet(true);
  bool passed = false;
  for (const DispatchRace &race : races) {
    if (!race.isNew)
      continue;
    tool.findings.confirmed(race, why             ? report::Confirmation{.reason = why}
                                  : host.failed() ? report::Confirmation{.reason = "the dispatch failed"}
                                                  : verdict(tool, host, kernel, race, dispatch));
    passed = true;
  }
  if (why || !passed)
    return;
  kept.putBack();
}

} // namespace wavesan::hsa
