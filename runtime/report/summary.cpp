// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/summary.h"

#include <algorithm>

namespace wavesan::report {

namespace {
/// Numbers may come from a file.
uint64_t saturatingSum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
} // namespace

Summary &Summary::operator+=(const Summary &other) {
  constexpr uint64_t Summary::*kNumbers[] = {&Summary::checkedAccesses,
                                             &Summary::kernels,
                                             &Summary::races,
                                             &Summary::warnings,
                                             &Summary::notes,
                                             &Summary::globalAccesses,
                                             &Summary::dispatches,
                                             &Summary::checkedDispatches,
                                             &Summary::furtherDispatches,
                                             &Summary::furtherPasses,
                                             &Summary::coveredSites,
                                             &Summary::waitObjects,
                                             &Summary::waitHazards,
                                             &Summary::racesNotPrinted,
                                             &Summary::warningsNotPrinted,
                                             &Summary::notesNotPrinted,
                                             &Summary::laterOccurrences,
                                             &Summary::racesDropped,
                                             &Summary::historyOverflow,
                                             &Summary::generationOverflow,
                                             &Summary::outsideShadow,
                                             &Summary::damagedRecords,
                                             &Summary::orderUnknown,
                                             &Summary::waitsUnknown,
                                             &Summary::copiesUnchecked,
                                             &Summary::globalUnchecked,
                                             &Summary::unfinishedDispatches,
                                             &Summary::failedDispatches,
                                             &Summary::waitGaps,
                                             &Summary::commands,
                                             &Summary::streams,
                                             &Summary::hostAccesses,
                                             &Summary::commandsUnordered,
                                             &Summary::launchesUnbound,
                                             &Summary::dispatchesUnbound,
                                             &Summary::dispatchesNotRecorded,
                                             &Summary::copiesUnknown,
                                             &Summary::graphsPartly,
                                             &Summary::streamHistoryLost,
                                             &Summary::atomicsOrder,
                                             &Summary::streamRepeats,
                                             &Summary::commandsUnfinished,
                                             &Summary::hostFunctionsUnknown,
                                             &Summary::errors};
  // A number that is missing above would be lost without a word.
  static_assert(sizeof(Summary) == sizeof(kNumbers) / sizeof(kNumbers[0]) * sizeof(uint64_t) +
                                       3 * sizeof(std::map<std::string, uint64_t>) +
                                       sizeof(std::map<std::pair<std::string, std::string>, uint64_t>) +
                                       sizeof(std::map<KernelPlace, uint64_t>));
  uint64_t common = 0;
  for (const auto &[kernel, dispatches] : other.checkedKernels)
    common += checkedKernels.count(kernel);
  for (uint64_t Summary::*number : kNumbers)
    this->*number = saturatingSum(this->*number, other.*number);
  kernels -= std::min(kernels, common);
  auto add = [](auto &to, const auto &from) {
    for (const auto &[key, count] : from)
      to[key] = saturatingSum(to[key], count);
  };
  add(skippedSites, other.skippedSites);
  add(noTwin, other.noTwin);
  add(unchecked, other.unchecked);
  add(suppressed, other.suppressed);
  add(checkedKernels, other.checkedKernels);
  return *this;
}

} // namespace wavesan::report
