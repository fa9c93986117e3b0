// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/merge.h"

#include <algorithm>
#include <map>
#include <set>

namespace wavesan::report {

namespace {

uint64_t saturatingSum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

std::string sideKey(const Access &access) {
  std::string key = accessText(access.bits);
  if (access.frames.empty())
    key += "#" + access.opcode + "#" + std::to_string(access.sizeBytes);
  for (const Frame &frame : access.frames)
    key += "|" + frame.file + ":" + std::to_string(frame.line) + ":" + std::to_string(frame.column);
  return key;
}

bool swapped(const Race &race) { return sideKey(race.previous) < sideKey(race.current); }

std::string placeKey(const Race &race) {
  if (race.divergence) {
    std::string key = race.divergence->currentEnds ? "ends" : "waits";
    for (const Frame &frame : race.divergence->branch)
      key += "|" + frame.file + ":" + std::to_string(frame.line) + ":" + std::to_string(frame.column);
    return key;
  }
  if (race.commands) { // the same line of a kernel may be launched in several places
    std::string key;
    for (const CommandSide *side : {&race.commands->current, &race.commands->previous})
      for (const Frame &frame : side->call)
        key += "|" + frame.file + ":" + std::to_string(frame.line) + ":" + std::to_string(frame.column);
    return key;
  }
  if (!race.current.frames.empty() && !race.previous.frames.empty())
    return {};
  return race.space == abi::RaceSpace::Lds
             ? std::to_string(race.ldsFirst)
             : std::to_string(int(race.place.kind)) + "#" + std::to_string(race.place.number) + race.place.name;
}

} // namespace

std::string raceKey(const Race &race) {
  std::string current = sideKey(race.current), previous = sideKey(race.previous);
  if (previous < current)
    std::swap(current, previous);
  return race.kernelMangled + '\n' + race.kernel + '\n' + std::to_string(uint32_t(race.raceClass)) +
         std::to_string(uint32_t(race.space)) + '\n' + current + '\n' + previous + '\n' + placeKey(race);
}

Document mergeDocuments(std::vector<Document> documents) {
  Document merged;
  merged.processes = 0;
  std::map<std::string, size_t> known;
  std::set<std::string> messages;
  uint64_t repeatedHazards = 0;
  for (Document &document : documents) {
    if (merged.directory.empty())
      merged.directory = document.directory;
    merged.processes = saturatingSum(merged.processes, document.processes);
    // A race listed twice in one document (two loads of the tool in one process) is still one process.
    std::set<size_t> here;
    for (Race &race : document.races) {
      auto [it, isNew] = known.try_emplace(raceKey(race), merged.races.size());
      const bool again = !here.insert(it->second).second;
      if (isNew) {
        merged.races.push_back(std::move(race));
        continue;
      }
      Race &first = merged.races[it->second];
      first.severity = std::min(first.severity, race.severity); // an error in one process is one
      // What one process has shown is not undone by another that has not seen it.
      if (race.confirmation && (!first.confirmation || race.confirmation->verdict < first.confirmation->verdict))
        first.confirmation = std::move(race.confirmation);
      first.valueHeld = first.valueHeld && race.valueHeld;
      first.bothOrders = first.bothOrders || race.bothOrders || swapped(first) != swapped(race);
      first.occurrences = saturatingSum(first.occurrences, race.occurrences);
      if (!again)
        first.processes = saturatingSum(first.processes, race.processes);
    }
    for (std::string &message : document.messages)
      if (messages.insert(message).second)
        merged.messages.push_back(std::move(message));
    // The same code object is loaded by every process: its hazards are listed once.
    for (WaitHazard &hazard : document.waitHazards)
      if (std::find(merged.waitHazards.begin(), merged.waitHazards.end(), hazard) == merged.waitHazards.end())
        merged.waitHazards.push_back(std::move(hazard));
      else
        ++repeatedHazards;
    merged.summary += document.summary;
  }
  // Races that were only counted cannot be compared.
  merged.summary.races = saturatingSum(countOf(merged.races, Severity::Error), merged.summary.racesNotPrinted);
  merged.summary.warnings = saturatingSum(countOf(merged.races, Severity::Warning), merged.summary.warningsNotPrinted);
  merged.summary.notes = saturatingSum(countOf(merged.races, Severity::Note), merged.summary.notesNotPrinted);
  merged.summary.waitHazards -= std::min(merged.summary.waitHazards, repeatedHazards);
  return merged;
}

size_t filterRaces(Document &document, const std::function<bool(const Race &)> &keep) {
  const std::pair<Severity, uint64_t Summary::*> counts[] = {{Severity::Error, &Summary::races},
                                                             {Severity::Warning, &Summary::warnings},
                                                             {Severity::Note, &Summary::notes}};
  uint64_t before[std::size(counts)];
  for (size_t i = 0; i < std::size(counts); ++i)
    before[i] = countOf(document.races, counts[i].first);
  const size_t removed = std::erase_if(document.races, [&](const Race &race) { return !keep(race); });
  for (size_t i = 0; i < std::size(counts); ++i) {
    uint64_t &n = document.summary.*counts[i].second;
    n -= std::min(n, before[i] - countOf(document.races, counts[i].first));
  }
  return removed;
}

void suppressRaces(Document &document, const Suppressions &suppressions) {
  filterRaces(document, [&](const Race &race) {
    const std::string *rule = suppressions.match(race);
    if (rule)
      ++document.summary.suppressed[*rule];
    return rule == nullptr;
  });
}

} // namespace wavesan::report
