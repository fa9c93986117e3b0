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

/// Lines "race:PATTERN"; empty lines and lines that begin with '#' are skipped. A pattern matches when it occurs in the
/// name of a function, file or variable of either side, or in the kernel's name; '*' stands for anything, '^' at the
/// begin and '$' at the end tie it to the ends of the name. It matches races of every class. Immutable, thread-safe.
class Suppressions {
public:
  Suppressions() = default;
  /// `file`: its name, for error lines. Bad lines are left out and said in `errors`, one line each.
  static Suppressions parse(std::string_view text, const std::string &file, std::vector<std::string> &errors);
  /// Reads the file; empty with one line in `errors` when that fails.
  static Suppressions read(const std::string &file, std::vector<std::string> &errors);

  /// The first one that matches, as "race:PATTERN (FILE:LINE)"; null when there is none.
  const std::string *match(const Race &race) const;

private:
  struct Rule {
    std::string pattern, display;
  };
  std::vector<Rule> Rules;
};

/// One pattern against one name.
bool matchesPattern(std::string_view pattern, std::string_view name);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_SUPPRESSIONS_H
