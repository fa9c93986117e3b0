// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of `wavesan check`.
#ifndef WAVESAN_WAITCHECK_CHECKLINE_H
#define WAVESAN_WAITCHECK_CHECKLINE_H

#include "Checker.h"
#include "InputReader.h"

namespace wavesan::waitcheck {

enum class ReportFormat { Text, Json, Sarif, Warnings, Errors };

struct CheckLine {
  std::vector<std::string> paths;
  InputOptions input;
  CheckOptions check;
  ReportFormat format = ReportFormat::Text;
  std::string output; ///< file; empty: standard output (warnings and errors: standard error)
  bool list = false;
  bool quiet = false;
  bool done = false; ///< nothing is left to do: --help was printed, or an error
  int status = 0;
};

/// Reads the words after the command. Prints help or an error itself.
CheckLine readCheckLine(const std::vector<std::string> &words);

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_CHECKLINE_H
