// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verdicts of one program as several GPUs, side by side.
#ifndef WAVESAN_DRIVER_TARGET_COMPARISON_H
#define WAVESAN_DRIVER_TARGET_COMPARISON_H

#include "wavesan/report/document.h"

#include <string>
#include <vector>

namespace wavesan::driver {

/// What one run reported.
struct TargetVerdict {
  std::string target; ///< "gfx90a"
  uint32_t waveSize = 0;
  bool known = true;       ///< false: its report is missing, so nothing can be said of it
  bool incomplete = false; ///< nothing was checked, or results are missing
  report::Document document;
};

/// One line: which verdicts differ between the runs, or that none does. Two races are one verdict if kernel, class and
/// the lines of both sides agree.
std::string comparisonLine(const std::vector<TargetVerdict> &verdicts);

/// `path` with the target's name in front of the extension ("r.json" -> "r.gfx90a.json"), so that runs keep their files
/// apart. Standard streams and empty paths stay what they are.
std::string pathOfTarget(const std::string &path, const std::string &target);

/// All JSON reports of a directory, one for each process of a run. False in `known` if one cannot be read.
report::Document reportsIn(const std::string &directory, bool &known);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_TARGET_COMPARISON_H
