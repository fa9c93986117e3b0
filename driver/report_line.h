// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of `wavesan report`.
#ifndef WAVESAN_DRIVER_REPORT_LINE_H
#define WAVESAN_DRIVER_REPORT_LINE_H

#include <cstdint>
#include <string>
#include <vector>

namespace wavesan::driver {

struct ReportRequest {
  enum class Format { Text, Json, Sarif, Junit } format = Format::Text;
  std::vector<std::string> files;
  std::vector<std::string> kernels, sources; ///< globs; empty: all
  std::vector<std::string> kinds;            ///< class names; empty: all
  std::string suppressions;                  ///< file; empty: none
  std::string output;                        ///< file; empty: standard output
  std::string color = "auto";
  uint64_t minCount = 0;
  uint64_t full = 5; ///< causes in full
  bool excerpt = true;
  int exitcode = 66; ///< where races remain
};

struct ReportLine {
  ReportRequest request;
  bool done = false; ///< help was printed, or an error: end with `status`
  int status = 0;
};

/// Reads the words behind `wavesan report`. Prints help to stdout, errors in one line to stderr.
ReportLine readReportLine(const std::vector<std::string> &words);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_REPORT_LINE_H
