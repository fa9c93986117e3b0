// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many races as text: by cause, worst first.
#include "wavesan/report/text_sink.h"

#include "wavesan/report/cause.h"

#include <algorithm>

namespace wavesan::report {

namespace {

/// Races of a cause that are listed below the one that speaks for it.
constexpr size_t kMaxListed = 10;

std::string counted(uint64_t n, const char *singular, const char *plural) {
  return std::to_string(n) + " " + (n == 1 ? singular : plural);
}

std::string sideText(const Access &access, const TextOptions &options) {
  const std::string what = access.bits ? accessText(access.bits) : access.opcode; // a divergence has no access
  if (access.frames.empty())
    return what + " at an unknown line";
  const Frame &frame = access.frames[userFrame(access.frames)];
  std::string text = what + " at " + relativePath(frame.file, options.directory);
  if (frame.line != 0)
    text += ":" + std::to_string(frame.line);
  if (frame.line != 0 && frame.column != 0)
    text += ":" + std::to_string(frame.column);
  return text;
}

std::string sidesText(const Race &race, const TextOptions &options) {
  return sideText(race.current, options) + " against " + sideText(race.previous, options);
}

std::string seenText(uint64_t occurrences) { return "seen " + counted(occurrences, "time", "times"); }

std::string seenText(const Race &race) {
  return seenText(race.occurrences) +
         (race.processes > 1 ? ", in " + std::to_string(race.processes) + " processes" : "");
}

std::string totalText(size_t races, size_t causes) {
  return counted(races, "race", "races") + " of " + counted(causes, "cause", "causes") +
         (causes > 1 ? ", worst first" : "");
}

std::string causeLine(const std::vector<Race> &races, const Cause &cause, const TextOptions &options) {
  const Race &first = races[cause.races.front()];
  return severityPrefix(first.severity) + className(first.raceClass) + " on " +
         objectText(first) + " in kernel " + (first.kernel.empty() ? "unknown" : first.kernel) + ", " +
         missingText(first) + ": " +
         (cause.races.size() == 1
              ? seenText(first) + ": "
              : counted(cause.races.size(), "race", "races") + ", " + seenText(cause.occurrences) + ", most often ") +
         sidesText(first, options);
}

} // namespace

std::string causesText(const std::vector<Race> &races, const TextOptions &options) {
  if (races.empty())
    return {};
  const std::vector<Cause> causes = groupByCause(races);
  std::string text = "wavesan: " + totalText(races.size(), causes.size()) + ":\n";
  for (const Cause &cause : causes)
    text += "  " + causeLine(races, cause, options) + "\n";
  return text;
}

std::string groupedText(const std::vector<Race> &races, const TextOptions &options) {
  if (races.empty())
    return {};
  const std::vector<Cause> causes = groupByCause(races);
  std::string text;
  const size_t full = std::min(options.fullReports, causes.size());
  for (size_t c = 0; c < full; ++c) {
    const std::vector<size_t> &list = causes[c].races;
    text += raceText(races[list.front()], options);
    if (list.size() > 1)
      text += "  " + counted(list.size() - 1, "more race", "more races") + " of this cause:\n";
    for (size_t i = 1; i < list.size() && i <= kMaxListed; ++i)
      text += "    " + sidesText(races[list[i]], options) + ", " + seenText(races[list[i]]) + "\n";
    if (list.size() > 1 + kMaxListed)
      text += "    and " + std::to_string(list.size() - 1 - kMaxListed) + " more\n";
  }
  if (full < causes.size() && full != 0)
    text += "wavesan: " + counted(causes.size() - full, "further cause", "further causes") + ":\n";
  else if (full == 0)
    text += "wavesan: causes:\n";
  for (size_t c = full; c < causes.size(); ++c)
    text += "  " + causeLine(races, causes[c], options) + "\n";
  return text + "wavesan: " + totalText(races.size(), causes.size()) + "\n";
}

} // namespace wavesan::report
