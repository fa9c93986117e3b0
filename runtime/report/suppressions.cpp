// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/suppressions.h"

#include "wavesan/report/printable.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace wavesan::report {

namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view s) {
  size_t begin = s.find_first_not_of(kBlank);
  return begin == std::string_view::npos ? std::string_view() : s.substr(begin, s.find_last_not_of(kBlank) + 1 - begin);
}

bool matchesFrame(std::string_view pattern, const Frame &frame) {
  return matchesPattern(pattern, frame.function) || matchesPattern(pattern, frame.file);
}

/// Types of ThreadSanitizer that say nothing about memory of a GPU.
constexpr std::string_view kForeignTypes[] = {"thread", "mutex", "signal", "deadlock"};
/// A line of an error message must stay one.
constexpr size_t kMaxQuoted = 80;

std::string quoted(std::string_view s) {
  return "'" + printable(std::string(s.substr(0, kMaxQuoted))) + (s.size() > kMaxQuoted ? "...'" : "'");
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
    constexpr std::pair<std::string_view, Type> kTypes[] = {{"race", Type::Race},
                                                            {"race_top", Type::RaceTop},
                                                            {"called_from", Type::CalledFrom},
                                                            {"called_from_lib", Type::CalledFromLib}};
    auto known = std::find_if(std::begin(kTypes), std::end(kTypes), [&](auto &t) { return t.first == type; });
    if (colon == std::string_view::npos)
      errors.push_back("suppressions: " + place + ": not of the form TYPE:PATTERN: " + quoted(line));
    else if (std::find(std::begin(kForeignTypes), std::end(kForeignTypes), type) != std::end(kForeignTypes))
      continue;
    else if (known == std::end(kTypes))
      errors.push_back("suppressions: " + place + ": unknown type " + quoted(type) +
                       " (known: race, race_top, called_from, called_from_lib)");
    else if (pattern.find_first_not_of("^$") == std::string_view::npos)
      errors.push_back("suppressions: " + place + ": the pattern is empty");
    else
      out.Rules.push_back(
          {known->second, std::string(pattern), std::string(type) + ":" + std::string(pattern) + " (" + place + ")"});
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

bool Suppressions::Rule::matches(const report::Race &race) const {
  if (type == Type::Race && (matchesPattern(pattern, race.variable) || matchesPattern(pattern, race.place.name) ||
                             matchesPattern(pattern, race.kernel)))
    return true;
  for (const Access *side : {&race.current, &race.previous}) {
    const std::vector<Frame> &frames = side->frames;
    const size_t begin = type == Type::CalledFrom || type == Type::CalledFromLib ? 1 : 0;
    const size_t end = type == Type::RaceTop ? std::min<size_t>(1, frames.size()) : frames.size();
    for (size_t i = begin; i < end; ++i)
      if (type == Type::CalledFromLib ? matchesPattern(pattern, frames[i].file) : matchesFrame(pattern, frames[i]))
        return true;
  }
  if (race.commands)
    for (const CommandSide *side : {&race.commands->current, &race.commands->previous}) {
      if (type == Type::Race && (matchesPattern(pattern, side->kernel) || matchesPattern(pattern, side->function)))
        return true;
      for (const Frame &frame : side->call)
        if (type == Type::CalledFromLib ? matchesPattern(pattern, frame.file)
                                        : type != Type::RaceTop && matchesFrame(pattern, frame))
          return true;
    }
  return false;
}

const std::string *Suppressions::match(const Race &race) const {
  for (const Rule &rule : Rules)
    if (rule.matches(race)) {
      rule.used = true;
      return &rule.display;
    }
  return nullptr;
}

std::vector<std::string> Suppressions::unused() const {
  std::vector<std::string> out;
  for (const Rule &rule : Rules)
    if (!rule.used)
      out.push_back(rule.display);
  return out;
}

} // namespace wavesan::report
