// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/text_sink.h"

#include <algorithm>
#include <vector>

namespace wavesan::report {

namespace {

std::string counted(uint64_t n, const char *singular, const char *plural) {
  return std::to_string(n) + " " + (n == 1 ? singular : plural);
}

/// Kernels named one by one before the rest is summed up.
constexpr size_t kMaxNamedKernels = 8;

/// It ran copies and fills, which were compared, and no kernel.
bool onlyCommands(const Summary &s) { return s.dispatches == 0 && s.commands != 0; }

/// Why a process with a tool in it checked nothing; empty when it checked something.
std::string nothingCheckedText(const Summary &s) {
  if (s.checkedAccesses != 0 || onlyCommands(s))
    return {};
  if (s.waitObjects != 0)
    return "no access was checked" + std::string(s.dispatches == 0 ? ": the program ran no kernel" : "");
  if (s.checkedDispatches != 0)
    return "nothing was checked: the instrumented kernels that ran executed no access that this version checks";
  if (s.dispatches == 0)
    return "nothing was checked: the program ran no kernel";
  if (s.unchecked.empty())
    return "nothing was checked: no kernel that ran was built with WaveSan (build with `wavesan cc`)";
  return "nothing was checked: see the reasons above";
}

void skippedSitesLines(const Summary &s, std::vector<std::string> &lines) {
  for (const auto &[reason, count] : s.skippedSites)
    if (count != 0)
      lines.push_back("not checked: " + counted(count, "place", "places") + " in the kernels: " + reason);
  if (s.globalUnchecked != 0)
    lines.push_back("not checked: global memory (no memory for its shadow, option shadow_budget_mb, or too many workgroups)");
  if (s.copiesUnchecked != 0)
    lines.push_back(
        "not checked: asynchronous copies to and from LDS, and waits for counts above zero (only the CPU agent "
        "checks them so far)");
}

void kernelLines(const Summary &s, std::vector<std::string> &lines) {
  for (const auto &[key, count] : s.unchecked)
    lines.push_back("not checked: kernel " + key.first + ", " + counted(count, "dispatch", "dispatches") + ": " +
                    key.second);
  // The most frequent first; equal ones by name.
  std::vector<std::pair<std::string, uint64_t>> kernels(s.noTwin.begin(), s.noTwin.end());
  std::sort(kernels.begin(), kernels.end(), [](const auto &a, const auto &b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  uint64_t restDispatches = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (i < kMaxNamedKernels)
      lines.push_back("not checked: kernel " + kernels[i].first + ", " +
                      counted(kernels[i].second, "dispatch", "dispatches") + ": not built with WaveSan");
    else
      restDispatches += kernels[i].second;
  }
  if (restDispatches != 0)
    lines.push_back("not checked: " + counted(kernels.size() - kMaxNamedKernels, "further kernel", "further kernels") +
                    ", " + counted(restDispatches, "dispatch", "dispatches") + ": not built with WaveSan");
}

void suppressedLines(const Summary &s, std::vector<std::string> &lines) {
  for (const auto &[rule, count] : s.suppressed)
    lines.push_back(counted(count, "race", "races") + " suppressed by " + rule);
}

void lossLines(const Summary &s, std::vector<std::string> &lines) {
  auto line = [&](uint64_t n, const char *singular, const char *plural, const char *rest) {
    if (n != 0)
      lines.push_back(counted(n, singular, plural) + rest);
  };
  line(s.racesNotPrinted, "further race", "further races", " not printed (option max_reports)");
  line(s.warningsNotPrinted, "further warning", "further warnings", " not printed (option max_reports)");
  line(s.notesNotPrinted, "further note", "further notes", " not printed (option max_reports)");
  line(s.laterOccurrences, "more conflict", "more conflicts", " of the races above after their report");
  line(s.racesDropped, "conflict", "conflicts", " dropped: the race table was full (option max_races)");
  line(s.historyOverflow, "access", "accesses",
       " not kept for later comparison: more than two readers or writers of the same bytes (races with them may be "
       "missed)");
  line(s.generationOverflow, "access", "accesses",
       " not recorded: the wave's generation counter was exhausted (races with them may be missed)");
  line(s.outsideShadow, "LDS access", "LDS accesses", " not checked: beyond the dispatch's group segment");
  line(s.damagedRecords, "race record", "race records", " damaged: not printed");
  line(s.orderUnknown, "atomic operation", "atomic operations",
       " not followed for want of memory: what they order is unknown, so later races of the dispatch are not reported "
       "(option shadow_budget_mb)");
  line(s.waitGaps, "function", "functions", " whose waits could not be analysed completely (wavesan check says why)");
  line(s.waitsUnknown, "asynchronous copy", "asynchronous copies",
       " waited for by a count that depends on how the compiler translates other accesses (races may be missed)");
  line(s.commandsUnordered, "command", "commands",
       " not compared with those of other streams: what they wait for was not seen");
  line(s.launchesUnbound, "launch", "launches",
       " not compared with commands of other streams: its dispatches were not seen in the call");
  line(s.dispatchesUnbound, "dispatch", "dispatches",
       " not compared with commands of other streams: no HIP call was under way that it belongs to");
  line(s.copiesUnknown, "copy or fill", "copies and fills",
       " not or not completely compared with other commands: what they touch is not known");
  line(s.graphsPartly, "graph launch", "graph launches",
       " not completely compared: nodes were not compared with one another, or only kernels with other commands");
  line(s.streamHistoryLost, "piece", "pieces",
       " of what commands touched not kept (option stream_history_mb): races between commands may be missed");
  line(s.atomicsOrder, "pair of commands", "pairs of commands", " not reported: atomics may have ordered them");
  line(s.streamRepeats, "more conflict", "more conflicts", " of reported races between commands");
  line(s.commandsUnfinished, "command", "commands",
       " not compared with those of other streams: not finished when the program ended");
  line(
      s.hostFunctionsUnknown, "access", "accesses",
      " of host functions not compared with commands: where a graph calls a function, its accesses have no place among "
      "the commands");
  if (s.streams > 1)
    line(s.dispatchesNotRecorded, "dispatch", "dispatches",
         " not compared with commands of other streams: what it touched was not recorded (only the CPU agent's own "
         "checks "
         "do, and only of kernels built with WaveSan)");
  line(s.unfinishedDispatches, "dispatch", "dispatches", " not checked: not finished when the program ended");
  line(s.failedDispatches, "dispatch", "dispatches", " failed: checked only up to the failure");
  line(s.errors, "error", "errors", " of WaveSan itself (printed above)");
}

} // namespace

std::vector<std::string> summaryRemarks(const Summary &summary) {
  std::vector<std::string> lines;
  skippedSitesLines(summary, lines);
  kernelLines(summary, lines);
  suppressedLines(summary, lines);
  if (summary.furtherDispatches != 0)
    lines.push_back(counted(summary.furtherDispatches, "dispatch", "dispatches") + " checked in " +
                    counted(summary.furtherPasses, "further pass", "further passes") +
                    ": the memory that shadow_budget_mb had no room for (option further_passes)");
  lossLines(summary, lines);
  if (std::string nothing = nothingCheckedText(summary); !nothing.empty())
    lines.push_back(std::move(nothing));
  return lines;
}

std::string checkedText(const Summary &summary) {
  std::string text = "checked " + std::to_string(summary.checkedAccesses) + " accesses in " +
                     std::to_string(summary.kernels) + " kernels: " + std::to_string(summary.races) + " races";
  if (summary.warnings != 0)
    text += ", " + std::to_string(summary.warnings) + " warnings";
  if (summary.notes != 0)
    text += ", " + std::to_string(summary.notes) + " notes";
  // Commands of one stream are ordered.
  if (summary.streams > 1 || summary.hostAccesses != 0 || onlyCommands(summary))
    text += ", " + counted(summary.commands, "command", "commands") + " in " +
            counted(summary.streams, "stream", "streams") + " compared";
  if (summary.hostAccesses != 0)
    text += " with " + counted(summary.hostAccesses, "access", "accesses") + " of the host";
  if (summary.waitObjects != 0)
    text += ", " + std::to_string(summary.waitHazards) + " wait hazards in " + std::to_string(summary.waitObjects) +
            " code objects";
  return text;
}

std::string summaryText(const Summary &summary, const TextOptions &options) {
  std::string text;
  for (const std::string &line : summaryRemarks(summary))
    text += "wavesan: " + line + "\n";
  if (options.summary)
    text += "wavesan: " + checkedText(summary) + "\n";
  return text;
}

} // namespace wavesan::report
