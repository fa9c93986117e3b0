// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races by cause: those of one kernel on one variable that lack the same kind of synchronisation. One repair usually
// ends all of them, so a thousand races are read as a few causes.
#ifndef WAVESAN_REPORT_CAUSE_H
#define WAVESAN_REPORT_CAUSE_H

#include "wavesan/report/race.h"

#include <cstdint>
#include <string>
#include <vector>

namespace wavesan::report {

/// Equal for races of one cause. Not for people.
std::string causeKey(const Race &race);

/// "no barrier", "no fence around the barrier", "scope too small", ...: what is missing, in a few words.
std::string missingText(const Race &race);

/// The accessed variable, or the place in memory that stands for it: "`tile`", "allocation 3", "LDS of unknown name".
std::string objectText(const Race &race);

struct Cause {
  std::vector<size_t> races; ///< indices, the one that speaks for all first, then in the order of the input
  uint64_t occurrences = 0;  ///< of all of them
};

/// Every race is in exactly one cause. Worst first: races before missing fences before scopes that are too small, then
/// the most distinct races, then the most occurrences; ties by kernel and first position, so that the order does not
/// depend on the input's. The race that was seen most often speaks for its cause.
std::vector<Cause> groupByCause(const std::vector<Race> &races);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_CAUSE_H
