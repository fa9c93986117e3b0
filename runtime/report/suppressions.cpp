// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/suppressions.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace wavesan::report {

namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view s) {
  size_t begin = s.find_first_not_of(kBlank);
  return begin == std::string_view::npos ? std::string_view() : s.substr(begin, s.find_last_not_of(kBlank) + 1 - begin);
}

bool matchesSide(std::string_view pattern, const Access &access) {
  for (const Frame &frame : access.frames)
    if (matchesPattern(pattern, frame.function) || matchesPattern(pattern, frame.file))
      return true;
  return false;
}

} // namespace

bool matchesPattern(std::string_view pattern, std::string_view name) {
  if (name.empty())
    return false;
  const bool fromBegin = !pattern.empty() && pattern.front() == '^';
  if (fromBegin)
    pattern.remove_prefix(1);
  const bool toEnd = !pattern.empty() && pattern.back() == '$';
  if (toEnd)
    pattern.remove_suffix(1);
  // The pieces between the stars, each as far left as possible; the last one of a tied pattern at the end.
  size_t at = 0;
  bool tied = fromBegin;
  while (true) {
    size_t star = pattern.find('*');
    std::string_view piece = pattern.substr(0, star);
    const bool last = star == std::string_view::npos;
    if (last && toEnd) {
      if (piece.size() > name.size() - at)
        return false;
      return tied ? name.substr(at) == piece : name.substr(name.size() - piece.size()) == piece;
    }
    size_t found = tied ? (name.substr(at, piece.size()) == piece ? at : std::string_view::npos) : name.find(piece, at);
    if (found == std::string_view::npos)
      return false;
    if (last)
      return true;
    at = found + piece.size();
    tied = false;
    pattern.remove_prefix(star + 1);
  }
}

Suppressions Suppressions::parse(std::string_view text, const std::string &file, std::vector<std::string> &errors) {
  Suppressions out;
  for (size_t number = 1; !text.empty(); ++number) {
    size_t end = text.find('\n');
    std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line[0] == '#')
      continue;
    const std::string place = file + ":" + std::to_string(number);
    size_t colon = line.find(':');
    std::string_view type = trimmed(line.substr(0, colon));
    std::string_view pattern = colon == std::string_view::npos ? std::string_view() : trimmed(line.substr(colon + 1));
    if (colon == std::string_view::npos)
      errors.push_back("suppressions: " + place + ": not of the form race:PATTERN: '" + std::string(line) + "'");
    else if (type != "race")
      errors.push_back("suppressions: " + place + ": unknown type '" + std::string(type) + "' (known: race)");
    else if (pattern.find_first_not_of("^$") == std::string_view::npos)
      errors.push_back("suppressions: " + place + ": the pattern is empty");
    else
      out.Rules.push_back({std::string(pattern), "race:" + std::string(pattern) + " (" + place + ")"});
  }
  return out;
}

Suppressions Suppressions::read(const std::string &file, std::vector<std::string> &errors) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  // Reading nothing sets the fail bit of `text`; an unreadable file or a directory sets the bad bit of `stream`.
  if (stream && stream.peek() != std::ifstream::traits_type::eof())
    text << stream.rdbuf();
  if (!stream.is_open() || stream.bad() || (stream.fail() && errno != 0)) {
    errors.push_back("suppressions: cannot read '" + file + "': " + std::strerror(errno ? errno : EIO));
    return {};
  }
  return parse(text.str(), file, errors);
}

const std::string *Suppressions::match(const Race &race) const {
  for (const Rule &rule : Rules)
    for (bool found : {matchesPattern(rule.pattern, race.variable), matchesPattern(rule.pattern, race.place.name),
                       matchesPattern(rule.pattern, race.kernel), matchesSide(rule.pattern, race.current),
                       matchesSide(rule.pattern, race.previous)})
      if (found)
        return &rule.display;
  return nullptr;
}

} // namespace wavesan::report
