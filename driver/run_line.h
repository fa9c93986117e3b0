// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of `wavesan run`.
#ifndef WAVESAN_DRIVER_RUN_LINE_H
#define WAVESAN_DRIVER_RUN_LINE_H

#include "commands.h"

#include <string>
#include <vector>

namespace wavesan::driver {

struct RunLine {
  RunRequest request;
  bool done = false; ///< help was printed, or an error: end with `status`
  int status = 0;
};

/// Reads the words behind `wavesan run`. Options end at the first word that is none, or behind "--"; the rest belongs
/// to the program, untouched. Prints help to stdout, errors in one line to stderr.
RunLine readRunLine(const std::vector<std::string> &words);

/// How many of `words` are options of the command itself, with the values of those in `withValue`. The program's own
/// arguments are not looked at.
size_t countOwnWords(const std::vector<std::string> &words, const std::vector<std::string> &withValue);

/// `value` as the option parser needs it: in quotes where it holds a separator.
std::string quoteValue(const std::string &value);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_RUN_LINE_H
