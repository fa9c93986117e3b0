// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "findings.h"

#include "race_builder.h"

#include "wavesan/report/printable.h"

#include <algorithm>
#include <array>
#include <utility>

namespace wavesan::hsa {

Findings::Findings(Sinks sinks, report::Suppressions suppressions, Status &status, const MemoryMap &memory,
                   uint64_t maxReports)
    : Out(std::move(sinks)), Known(std::move(suppressions)), Page(status), Memory(memory), MaxReports(maxReports) {}

void Findings::say(const std::string &line) {
  Out.text->onMessage(line);
  for (auto &document : Out.documents)
    document->onMessage(line);
}

void Findings::sayError(const std::string &line) {
  ++Sum.errors;
  Page.add(&abi::StatusPage::errors);
  if (PrintedErrors.insert(line).second)
    say(line);
}

void Findings::dispatchSeen() {
  std::lock_guard lock(Mutex);
  ++Sum.dispatches;
}

void Findings::noTwin(const std::string &kernel) {
  std::lock_guard lock(Mutex);
  ++Sum.noTwin[kernel];
  Page.add(&abi::StatusPage::dispatchesUnchecked);
}

void Findings::unchecked(const std::string &kernel, const std::string &reason) {
  std::lock_guard lock(Mutex);
  ++Sum.unchecked[{kernel, reason}];
  Page.add(&abi::StatusPage::dispatchesUnchecked);
}

void Findings::unfinished(uint64_t dispatches) {
  std::lock_guard lock(Mutex);
  Sum.unfinishedDispatches += dispatches;
}

void Findings::lateDispatch(const std::string &kernel) {
  std::lock_guard lock(Mutex);
  Page.add(&abi::StatusPage::dispatchesUnchecked);
  std::string line = "not checked: kernel " + kernel + ": dispatched after the program's exit began";
  if (PrintedErrors.insert(line).second)
    say(line);
}

void Findings::message(const std::string &line) {
  std::lock_guard lock(Mutex);
  say(line);
}

void Findings::error(const std::string &line) {
  std::lock_guard lock(Mutex);
  sayError(line);
}

void Findings::drained(const Kernel &kernel, uint64_t dispatch, const DispatchResult &result) {
  std::lock_guard lock(Mutex);
  const abi::DispatchCounters &c = result.counters;
  if (kernel.twin->namedBarriers && (c.checkedSpaces & abi::kFollowsNamedBarriers) == 0) {
    // Any two accesses may be ordered by them. What is said of whole barriers stands.
    Page.subtract(&abi::StatusPage::dispatchesPending);
    Page.add(&abi::StatusPage::dispatchesUnchecked);
    ++Sum.unchecked[{kernel.display,
                     "what orders its waves are named barriers, which only the CPU agent's own hooks follow"}];
    Sum.failedDispatches += result.failed;
    DispatchResult divergence = result;
    std::erase_if(divergence.records,
                  [](const abi::RaceRecord &r) { return !abi::isDivergence(abi::RaceClass(r.raceClass)); });
    return addRaces(kernel, dispatch, divergence);
  }
  ++Sum.checkedDispatches;
  ++Sum.checkedKernels[{kernel.display, kernel.twin->file, kernel.twin->line}];
  Page.subtract(&abi::StatusPage::dispatchesPending);
  Page.add(&abi::StatusPage::racesLost, c.racesDropped);
  Sum.checkedAccesses += c.checkedAccesses;
  Sum.racesDropped += c.racesDropped;
  Sum.historyOverflow += c.historyOverflow;
  Sum.generationOverflow += c.generationOverflow;
  Sum.outsideShadow += c.outsideShadow;
  Sum.globalAccesses += c.globalAccesses;
  Sum.orderUnknown += c.orderUnknown;
  Sum.waitsUnknown += c.waitsUnknown;
  const auto reason = NoFurtherPasses.extract(dispatch);
  if (const auto watched = Watched.find(dispatch); watched != Watched.end() && watched->second.asksBudget)
    watched->second.outsideBudget = c.outsideBudget;
  else if (c.outsideBudget != 0)
    sayBudgetUsedUp(kernel, reason ? "no further passes: " + reason.mapped() : "");
  if (c.lanesUnchecked != 0)
    ++Sum.unchecked[{kernel.display, "some of its accesses, between lanes of one wave: too many to remember"}];
  Sum.globalUnchecked += (c.checkedSpaces & abi::kChecksGlobal) == 0;
  Sum.copiesUnchecked +=
      (kernel.twin->copiesAsync || kernel.twin->countsLdsWaits) && (c.checkedSpaces & abi::kChecksCopies) == 0;
  Sum.failedDispatches += result.failed;
  Page.add(&abi::StatusPage::checkedAccesses, c.checkedAccesses);
  std::string identity = kernel.name + '\n' + kernel.twin->file + '\n' + std::to_string(kernel.twin->line);
  if (CheckedKernels.insert(std::move(identity)).second) {
    ++Sum.kernels;
    Page.add(&abi::StatusPage::kernels);
    Sum.coveredSites += kernel.twin->coveredSites;
    for (const auto &[reason, sites] : kernel.twin->skippedSites)
      Sum.skippedSites[reason] += sites;
  }
  addRaces(kernel, dispatch, result);
}

void Findings::partDrained(const Kernel &kernel, uint64_t dispatch, const DispatchResult &result) {
  std::lock_guard lock(Mutex);
  Page.subtract(&abi::StatusPage::dispatchesPending);
  if (const auto watched = Watched.find(dispatch); watched != Watched.end())
    watched->second.outsideBudget = result.counters.outsideBudget;
  Page.add(&abi::StatusPage::racesLost, result.counters.racesDropped);
  Sum.racesDropped += result.counters.racesDropped;
  DispatchResult global = result;
  std::erase_if(global.records,
                [](const abi::RaceRecord &r) { return r.space != uint32_t(abi::RaceSpace::Global); });
  addRaces(kernel, dispatch, global, /*onlyNew=*/true);
}

void Findings::sayBudgetUsedUp(const Kernel &kernel, const std::string &why) {
  ++Sum.unchecked[{kernel.display, "some of its accesses: the memory for their records is used up (option "
                                   "shadow_budget_mb" +
                                       (why.empty() ? "" : "; " + why) + ")"}];
}

uint64_t Findings::outsideBudget(uint64_t dispatch) {
  std::lock_guard lock(Mutex);
  const auto watched = Watched.find(dispatch);
  return watched == Watched.end() ? 0 : watched->second.outsideBudget;
}

void Findings::budgetUsedUp(const Kernel &kernel, const std::string &why) {
  std::lock_guard lock(Mutex);
  sayBudgetUsedUp(kernel, why);
}

void Findings::noFurtherPasses(uint64_t dispatch, const std::string &why) {
  std::lock_guard lock(Mutex);
  NoFurtherPasses[dispatch] = why;
}

void Findings::furtherPasses(uint64_t passes) {
  std::lock_guard lock(Mutex);
  Sum.furtherPasses += passes;
  ++Sum.furtherDispatches;
}

void Findings::addRaces(const Kernel &kernel, uint64_t dispatch, const DispatchResult &result, bool onlyNew) {
  std::vector<const abi::RaceRecord *> records;
  for (const abi::RaceRecord &record : result.records) {
    if (!isPlausible(record, kernel))
      ++Sum.damagedRecords;
    else if (!isInOrder(record, kernel))
      records.push_back(&record);
  }
  // The first barrier that not all reach is the finding; behind it the waves are out of step.
  using Workgroup = std::array<uint32_t, 3>;
  std::map<Workgroup, uint32_t> firstStep;
  const auto stepOf = [&](const abi::RaceRecord &r) -> uint32_t * {
    if (!abi::isDivergence(abi::RaceClass(r.raceClass)) || !abi::divergenceOf(r).bySite)
      return nullptr;
    return &firstStep.try_emplace(Workgroup{r.workgroup[0], r.workgroup[1], r.workgroup[2]}, r.epoch).first->second;
  };
  for (const abi::RaceRecord *record : records)
    if (uint32_t *step = stepOf(*record))
      *step = std::min(*step, record->epoch);
  std::erase_if(records, [&](const abi::RaceRecord *record) {
    const uint32_t *step = stepOf(*record);
    return step && record->epoch > *step;
  });
  // Where a barrier is missing between waves, the same two accesses are often unordered within a wave as well, in arms
  // that the compiler made of the branch around one of them. The race between waves says all of it.
  const auto sitesOf = [](const abi::RaceRecord &r) { return std::minmax(r.current.site, r.previous.site); };
  std::set<std::pair<uint32_t, uint32_t>> betweenWaves;
  for (const abi::RaceRecord *record : records)
    if (record->raceClass == uint32_t(abi::RaceClass::Race))
      betweenWaves.insert(sitesOf(*record));
  std::erase_if(records, [&](const abi::RaceRecord *record) {
    return record->raceClass == uint32_t(abi::RaceClass::WaveOrder) && betweenWaves.contains(sitesOf(*record));
  });
  std::sort(records.begin(), records.end(), [](auto *a, auto *b) { return recordBefore(*a, *b); });

  // Several site pairs can be one pair of source positions (unrolled loops, both orders). The first record in
  // program order speaks for all of them: which order the schedule showed first says nothing about the program. If the
  // two accesses race between workgroups, too, it is the first of those: a barrier would not do.
  struct Group {
    const abi::RaceRecord *first;
    const abi::RaceRecord *otherWay = nullptr; ///< first record with the sides exchanged
    bool swapped;
    bool isNew;
    bool valueHeld = true; ///< by all its records
    uint64_t count = 0;
  };
  const auto watched = Watched.find(dispatch);
  std::vector<Group> groups;
  std::map<std::string, size_t> groupOf;
  for (const abi::RaceRecord *record : records) {
    RaceKey key = raceIdentity(*record, kernel);
    const auto known = KnownRaces.find(key.text);
    if (known != KnownRaces.end()) {
      if (onlyNew)
        continue;
      if (!known->second)
        Sum.laterOccurrences += record->count;
      if (known->second || watched == Watched.end())
        continue;
    }
    auto [it, isNew] = groupOf.try_emplace(key.text, groups.size());
    if (isNew)
      groups.push_back({.first = record, .swapped = key.swapped, .isNew = known == KnownRaces.end()});
    Group &group = groups[it->second];
    if (isBetweenWorkgroups(*record) && !isBetweenWorkgroups(*group.first)) {
      group.first = record;
      group.swapped = key.swapped;
      group.otherWay = nullptr;
    }
    group.count += record->count;
    group.valueHeld = group.valueHeld && (record->current.access & abi::kSideValueHeld) != 0;
    if (key.swapped != group.swapped && !group.otherWay &&
        isBetweenWorkgroups(*record) == isBetweenWorkgroups(*group.first))
      group.otherWay = record;
  }
  std::vector<const std::string *> keys(groups.size());
  for (auto &[text, index] : groupOf)
    keys[index] = &text;
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group &group = groups[i];
    const abi::RaceRecord *shown = group.first;
    report::Race race = buildRace(*shown, kernel, dispatch, Memory);
    if (group.otherWay && !report::inProgramOrder(race))
      race = buildRace(*(shown = group.otherWay), kernel, dispatch, Memory);
    race.occurrences = group.count;
    race.bothOrders = group.otherWay != nullptr;
    race.valueHeld = group.valueHeld && !race.sameValue && race.order == report::Order::WriteAfterWrite;
    report::makePrintable(race);
    if (!group.isNew) {
      watched->second.races.push_back({*shown, std::move(race), false});
      continue;
    }
    const std::string *suppression = nullptr;
    const auto rule = Severities.find(race.raceClass);
    const ClassRule *choice = race.sameValue && SameValue ? &*SameValue : rule != Severities.end() ? &rule->second : nullptr;
    if (choice && choice->severity)
      race.severity = *choice->severity;
    else if (choice)
      suppression = &choice->name;
    if (!suppression)
      suppression = Known.match(race);
    KnownRaces.emplace(*keys[i], suppression != nullptr);
    if (suppression) {
      ++Sum.suppressed[*suppression];
      continue;
    }
    DispatchRace reported{*shown, std::move(race), true};
    reported.shown = addRace(reported.race);
    if (const auto reason = NotConfirmed.find(dispatch); reason != NotConfirmed.end())
      sayConfirmed(reported, {.reason = reason->second});
    for (auto [remark, end] = Remarks.equal_range(dispatch); remark != end; remark = Remarks.erase(remark))
      say(remark->second);
    if (watched != Watched.end())
      watched->second.races.push_back(std::move(reported));
  }
  Remarks.erase(dispatch);
  NotConfirmed.erase(dispatch);
}

void Findings::watch(uint64_t dispatch, bool asksBudget) {
  std::lock_guard lock(Mutex);
  Watched[dispatch].asksBudget = asksBudget;
}

std::vector<DispatchRace> Findings::takeWatched(uint64_t dispatch) {
  std::lock_guard lock(Mutex);
  auto node = Watched.extract(dispatch);
  return node ? std::move(node.mapped().races) : std::vector<DispatchRace>();
}

void Findings::sayIfRacy(uint64_t dispatch, std::string line) {
  std::lock_guard lock(Mutex);
  Remarks.emplace(dispatch, std::move(line));
}

void Findings::confirmed(const DispatchRace &race, const report::Confirmation &confirmation) {
  std::lock_guard lock(Mutex);
  sayConfirmed(race, confirmation);
}

void Findings::notConfirmed(uint64_t dispatch, const std::string &reason) {
  std::lock_guard lock(Mutex);
  NotConfirmed[dispatch] = reason;
}

void Findings::sayConfirmed(const DispatchRace &race, const report::Confirmation &confirmation) {
  if (!race.shown)
    return say(report::confirmationText(confirmation) + ": " + report::shortName(race.race));
  Out.text->onConfirmation(*race.shown, confirmation);
  for (auto &document : Out.documents)
    document->onConfirmation(*race.shown, confirmation);
}

std::optional<size_t> Findings::addRace(const report::Race &race) {
  struct Counters {
    uint64_t &all, &notPrinted;
  };
  const Counters count = race.severity == report::Severity::Error     ? Counters{Sum.races, Sum.racesNotPrinted}
                         : race.severity == report::Severity::Warning ? Counters{Sum.warnings, Sum.warningsNotPrinted}
                                                                      : Counters{Sum.notes, Sum.notesNotPrinted};
  ++count.all;
  if (race.severity == report::Severity::Error)
    Page.add(&abi::StatusPage::races);
  if (Sum.races + Sum.warnings + Sum.notes > MaxReports) {
    ++count.notPrinted;
    return std::nullopt;
  }
  Out.text->onRace(race);
  for (auto &document : Out.documents)
    document->onRace(race);
  return Shown++;
}

void Findings::streamRace(report::Race race) {
  report::makePrintable(race);
  std::lock_guard lock(Mutex);
  if (const std::string *suppression = Known.match(race))
    ++Sum.suppressed[*suppression];
  else
    addRace(race);
}

void Findings::streamsCompared(const std::function<void(report::Summary &)> &compare) {
  report::Summary counts;
  compare(counts);
  std::lock_guard lock(Mutex);
  Sum += counts;
}

void Findings::waitsChecked(const WaitCheckResult &result,
                            const std::function<bool(const report::WaitHazard &)> &selected) {
  std::lock_guard lock(Mutex);
  for (const std::string &problem : result.problems)
    sayError("check_waits: a code object's waits were not checked: " + problem);
  if (!result.complete)
    return;
  ++Sum.waitObjects;
  Sum.waitGaps += result.incompleteFunctions;
  for (const report::WaitHazard &hazard : result.hazards) {
    if (!selected(hazard))
      continue;
    ++Sum.waitHazards;
    Page.add(&abi::StatusPage::waitHazards);
    if (Sum.waitHazards > MaxReports)
      continue;
    Out.text->onWaitHazard(hazard);
    for (auto &document : Out.documents)
      document->onWaitHazard(hazard);
  }
  Sum.waitHazards += result.notShown;
  Page.add(&abi::StatusPage::waitHazards, result.notShown);
}

void Findings::namesUnusedSuppressions() {
  std::lock_guard lock(Mutex);
  for (const std::string &rule : Known.unused())
    say("suppression that matched nothing: " + rule);
}

void Findings::finish() {
  std::lock_guard lock(Mutex);
  if (Finished)
    return;
  Finished = true;
  // Files first, so that the text can say which of them failed. All of them hold the same summary.
  const report::Summary soFar = Sum;
  for (auto &document : Out.documents)
    if (std::string failure = document->onSummary(soFar); !failure.empty())
      sayError(failure);
  if (!Out.text->onSummary(Sum).empty()) // said on stderr, where that was possible
    Page.add(&abi::StatusPage::errors);
  Page.add(&abi::StatusPage::onlyCommands, Sum.dispatches == 0 && Sum.commands != 0);
  Page.add(&abi::StatusPage::summariesPrinted);
}

} // namespace wavesan::hsa
