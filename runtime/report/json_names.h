// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of values in the project's JSON format, for the writer and the reader. Stable: docs/report-schema.md.
#ifndef WAVESAN_REPORT_JSON_NAMES_H
#define WAVESAN_REPORT_JSON_NAMES_H

#include "wavesan/report/race.h"

#include "wavesan/report/summary.h"

#include <utility>

namespace wavesan::report::json_names {

inline constexpr char kSchema[] = "wavesan-report";
/// Raised when a member changes its meaning or goes away; new members do not raise it.
inline constexpr int kSchemaVersion = 1;

template <class Value> struct Named {
  Value value;
  const char *name;
};

inline constexpr Named<Order> kOrders[] = {{Order::ReadAfterWrite, "read-after-write"},
                                           {Order::WriteAfterRead, "write-after-read"},
                                           {Order::WriteAfterWrite, "write-after-write"}};
inline constexpr Named<Severity> kSeverities[] = {{Severity::Error, "error"}, {Severity::Warning, "warning"}, {Severity::Note, "note"}};
inline constexpr Named<Situation> kSituations[] = {{Situation::Unknown, "unknown"},
                                                   {Situation::StraightLine, "straight-line"},
                                                   {Situation::LoopCarried, "loop-carried"},
                                                   {Situation::BarrierSkipped, "barrier-skipped"},
                                                   {Situation::SameLine, "same-line"}};
inline constexpr Named<abi::RaceSpace> kSpaces[] = {
    {abi::RaceSpace::Lds, "lds"}, {abi::RaceSpace::Global, "global"}, {abi::RaceSpace::None, "none"}};
/// Of places in global memory.
inline constexpr Named<MemoryPlace::Kind> kPlaces[] = {{MemoryPlace::Kind::Unknown, "unknown"},
                                                       {MemoryPlace::Kind::Allocation, "allocation"},
                                                       {MemoryPlace::Kind::RegisteredHost, "registered-host"},
                                                       {MemoryPlace::Kind::KernelArguments, "kernel-arguments"},
                                                       {MemoryPlace::Kind::DeviceVariable, "device-variable"}};
inline constexpr Named<CommandSide::Kind> kCommands[] = {{CommandSide::Kind::Kernel, "kernel"},
                                                         {CommandSide::Kind::Copy, "copy"},
                                                         {CommandSide::Kind::Set, "set"},
                                                         {CommandSide::Kind::Free, "free"},
                                                         {CommandSide::Kind::Allocation, "allocation"},
                                                         {CommandSide::Kind::Graph, "graph"},
                                                         {CommandSide::Kind::Host, "host"},
                                                         {CommandSide::Kind::HostFunction, "host-function"}};
inline constexpr Named<Confirmation::Verdict> kVerdicts[] = {{Confirmation::Verdict::Confirmed, "confirmed"},
                                                             {Confirmation::Verdict::OutputDiffers, "output-differs"},
                                                             {Confirmation::Verdict::NotObserved, "not-observed"},
                                                             {Confirmation::Verdict::NotTried, "not-tried"}};
inline constexpr char kLdsPlace[] = "lds";
inline constexpr char kNoPlace[] = "none";

/// Losses of the summary.
inline constexpr Named<uint64_t Summary::*> kLosses[] = {{&Summary::racesNotPrinted, "racesNotPrinted"},
                                                         {&Summary::warningsNotPrinted, "warningsNotPrinted"},
                                                         {&Summary::notesNotPrinted, "notesNotPrinted"},
                                                         {&Summary::laterOccurrences, "laterOccurrences"},
                                                         {&Summary::racesDropped, "racesDropped"},
                                                         {&Summary::historyOverflow, "historyOverflow"},
                                                         {&Summary::generationOverflow, "generationOverflow"},
                                                         {&Summary::outsideShadow, "outsideShadow"},
                                                         {&Summary::damagedRecords, "damagedRecords"},
                                                         {&Summary::orderUnknown, "orderUnknown"},
                                                         {&Summary::waitsUnknown, "waitsUnknown"},
                                                         {&Summary::copiesUnchecked, "copiesUnchecked"},
                                                         {&Summary::globalUnchecked, "globalUnchecked"},
                                                         {&Summary::unfinishedDispatches, "unfinishedDispatches"},
                                                         {&Summary::failedDispatches, "failedDispatches"},
                                                         {&Summary::waitGaps, "waitGaps"},
                                                         {&Summary::errors, "errors"}};
/// Further numbers of the summary.
inline constexpr Named<uint64_t Summary::*> kCounts[] = {{&Summary::checkedAccesses, "checkedAccesses"},
                                                         {&Summary::globalAccesses, "globalAccesses"},
                                                         {&Summary::kernels, "kernels"},
                                                         {&Summary::races, "races"},
                                                         {&Summary::dispatches, "dispatches"},
                                                         {&Summary::checkedDispatches, "checkedDispatches"}};

/// Absent in reports of earlier versions.
inline constexpr Named<uint64_t Summary::*> kLaterCounts[] = {{&Summary::warnings, "warnings"},
                                                              {&Summary::notes, "notes"},
                                                              {&Summary::furtherDispatches, "furtherDispatches"},
                                                              {&Summary::furtherPasses, "furtherPasses"},
                                                              {&Summary::coveredSites, "coveredSites"},
                                                              {&Summary::waitObjects, "waitObjects"},
                                                              {&Summary::waitHazards, "waitHazards"}};

/// Of the check for races between commands; absent in reports of earlier versions and without that check.
inline constexpr Named<uint64_t Summary::*> kStreamCounts[] = {
    {&Summary::commands, "commands"}, {&Summary::streams, "streams"}, {&Summary::hostAccesses, "hostAccesses"}};
inline constexpr Named<uint64_t Summary::*> kStreamLosses[] = {
    {&Summary::commandsUnordered, "commandsUnordered"}, {&Summary::launchesUnbound, "launchesUnbound"},
    {&Summary::dispatchesUnbound, "dispatchesUnbound"}, {&Summary::dispatchesNotRecorded, "dispatchesNotRecorded"},
    {&Summary::copiesUnknown, "copiesUnknown"},         {&Summary::graphsPartly, "graphsPartly"},
    {&Summary::streamHistoryLost, "streamHistoryLost"}, {&Summary::atomicsOrder, "atomicsOrder"},
    {&Summary::streamRepeats, "streamRepeats"},         {&Summary::commandsUnfinished, "commandsUnfinished"},
    {&Summary::hostFunctionsUnknown, "hostFunctionsUnknown"}};

template <class Value, size_t N> const char *nameOf(const Named<Value> (&table)[N], Value value) {
  for (const Named<Value> &entry : table)
    if (entry.value == value)
      return entry.name;
  return "unknown";
}

} // namespace wavesan::report::json_names

#endif // WAVESAN_REPORT_JSON_NAMES_H
