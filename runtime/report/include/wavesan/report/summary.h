// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The summary of a process: what was checked, and everything that was not.
#ifndef WAVESAN_REPORT_SUMMARY_H
#define WAVESAN_REPORT_SUMMARY_H

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace wavesan::report {

/// A kernel and the place of its definition; empty and 0 without debug info.
struct KernelPlace {
  std::string kernel; ///< demangled
  std::string file;
  uint32_t line = 0;

  auto operator<=>(const KernelPlace &) const = default;
};

struct Summary {
  uint64_t checkedAccesses = 0; ///< wave-level access operations, summed over waves
  uint64_t kernels = 0;         ///< distinct kernels with a checked dispatch
  uint64_t races = 0;           ///< distinct races, printed or not; suppressed ones and warnings excluded
  uint64_t warnings = 0;        ///< the same of findings that count as warnings
  uint64_t notes = 0;           ///< the same of findings that count as notes
  uint64_t globalAccesses = 0;  ///< of checkedAccesses, those to global memory
  uint64_t dispatches = 0;      ///< kernel dispatches of the program, checked or not (runtime-internal ones excluded)
  uint64_t checkedDispatches = 0;
  uint64_t furtherDispatches = 0; ///< of them, those that ran again because not all memory could be checked at once
  uint64_t furtherPasses = 0;     ///< how often, all together
  uint64_t coveredSites = 0; ///< reads in the checked kernels that need no check: an earlier one covers them
  uint64_t waitObjects = 0; ///< code objects whose machine code was checked for missing waits (option check_waits)
  uint64_t waitHazards = 0; ///< missing waits found in them

  // Losses. Each is printed when it is not zero.
  uint64_t racesNotPrinted = 0;      ///< beyond the max_reports option
  uint64_t warningsNotPrinted = 0;   ///< the same of warnings
  uint64_t notesNotPrinted = 0;      ///< the same of notes
  uint64_t laterOccurrences = 0;     ///< conflicts of printed races that came after their report
  uint64_t racesDropped = 0;         ///< conflicts whose site pair found no place in the race table
  uint64_t historyOverflow = 0;      ///< accesses whose record a cell could not keep
  uint64_t generationOverflow = 0;   ///< accesses not recorded: the wave's generation counter was exhausted
  uint64_t outsideShadow = 0;        ///< LDS accesses beyond the shadow
  uint64_t damagedRecords = 0;       ///< race records that made no sense
  uint64_t orderUnknown = 0;         ///< atomics whose release could not be recorded
  uint64_t waitsUnknown = 0;         ///< asynchronous copies of which it is unknown whether they were waited for
  uint64_t copiesUnchecked = 0;      ///< checked dispatches whose asynchronous copies nobody checked
  uint64_t globalUnchecked = 0;      ///< checked dispatches whose accesses to global memory nobody checked
  uint64_t unfinishedDispatches = 0; ///< checked dispatches that had not completed when the process ended
  uint64_t failedDispatches = 0;     ///< checked dispatches that the runtime completed with an error
  uint64_t waitGaps = 0;             ///< functions whose waits could not be analysed completely
  uint64_t errors = 0;               ///< failures of the tool itself; each was printed where it happened

  // Races between commands.
  uint64_t commands = 0;     ///< kernels, copies, fills, allocations and frees that were compared
  uint64_t streams = 0;      ///< that they were put into
  uint64_t hostAccesses = 0; ///< accesses of the host that were compared with them
  // Its losses.
  uint64_t commandsUnordered = 0;     ///< not compared: what they wait for was not seen
  uint64_t launchesUnbound = 0;       ///< not compared: their dispatches were not seen
  uint64_t dispatchesUnbound = 0;     ///< not compared: they belong to no call that was seen
  uint64_t dispatchesNotRecorded = 0; ///< not compared: what they touched was not recorded
  uint64_t copiesUnknown = 0;         ///< copies and fills of which not everything that they touch is known
  uint64_t graphsPartly = 0;          ///< launches of graphs whose nodes were not all compared
  uint64_t streamHistoryLost = 0;     ///< pieces of accesses not kept: the memory for them is limited
  uint64_t atomicsOrder = 0;          ///< pairs of commands not compared: atomics may have ordered them
  uint64_t streamRepeats = 0;         ///< conflicts of races that had been reported
  uint64_t commandsUnfinished = 0;    ///< not compared: they had not ended when the process did
  uint64_t hostFunctionsUnknown = 0;  ///< accesses of host functions not compared: when they run is not known

  std::map<std::string, uint64_t> skippedSites; ///< reason -> places, over the kernels that were checked
  std::map<std::string, uint64_t> noTwin;       ///< kernel (demangled) -> dispatches
  std::map<std::pair<std::string, std::string>, uint64_t> unchecked; ///< (kernel, reason) -> dispatches
  std::map<std::string, uint64_t> suppressed;                        ///< suppression and its place -> distinct races

  std::map<KernelPlace, uint64_t> checkedKernels; ///< -> dispatches that were checked

  /// Adds what another load of the tool, or another process, found. Kernels known to both count once; races count
  /// twice.
  Summary &operator+=(const Summary &other);
};

} // namespace wavesan::report

#endif // WAVESAN_REPORT_SUMMARY_H
