// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Known races that the user does not want to see, in the file format of the sanitizers.
#ifndef WAVESAN_REPORT_SUPPRESSIONS_H
#define WAVESAN_REPORT_SUPPRESSIONS_H

#include "wavesan/report/race.h"

#include <string>
#include <string_view>
#include <vector>

namespace wavesan::report {

/// Lines "TYPE:PATTERN"; empty lines and lines that begin with '#' are skipped. A pattern matches when it occurs in a
/// name;
/// '*' stands for anything, '^' at the begin and '$' at the end tie it to the ends of the name. Rules match races of
/// every class. Which names are looked at depends on the type:
///   race             function and file of every frame of both sides, the variable, the kernel
///   race_top         function and file of the innermost frame of either side
///   called_from      function and file of the callers only, on either side: every frame but the innermost
///   called_from_lib  the same, by file only
/// ThreadSanitizer's other types (thread, mutex, signal, deadlock) are accepted, since one file may serve both tools,
/// and match nothing here. Immutable but for the count of uses; match() and unused() must not run at the same time as
/// one another.
class Suppressions {
public:
  Suppressions() = default;
  /// `file`: its name, for error lines. Bad lines are left out and said in `errors`, one line each.
  static Suppressions parse(std::string_view text, const std::string &file, std::vector<std::string> &errors);
  /// Reads the file; empty with one line in `errors` when that fails.
  static Suppressions read(const std::string &file, std::vector<std::string> &errors);

  /// The first one that matches, as "race:PATTERN (FILE:LINE)"; null when there is none.
  const std::string *match(const Race &race) const;
  /// Those that have not matched so far, as match() names them.
  std::vector<std::string> unused() const;

private:
  enum class Type : uint8_t { Race, RaceTop, CalledFrom, CalledFromLib };
  struct Rule {
    Type type;
    std::string pattern, display;
    mutable bool used = false;

    bool matches(const report::Race &race) const;
  };
  std::vector<Rule> Rules;
};

/// One pattern against one name.
bool matchesPattern(std::string_view pattern, std::string_view name);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_SUPPRESSIONS_H
