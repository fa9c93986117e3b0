// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything the tool has found out in this process: distinct races, counters, losses. Reports as it learns.
#ifndef WAVESAN_HSA_FINDINGS_H
#define WAVESAN_HSA_FINDINGS_H

#include "kernel_table.h"
#include "memory_map.h"
#include "sinks.h"
#include "status.h"
#include "wait_check.h"

#include "wavesan/abi/dispatch.h"
#include "wavesan/report/race.h"
#include "wavesan/report/suppressions.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace wavesan::hsa {

/// A copy of what a completed dispatch left behind.
struct DispatchResult {
  abi::DispatchCounters counters{};
  std::vector<abi::RaceRecord> records; ///< taken entries only
  bool failed = false;                  ///< completed with an error
};

/// A race of one dispatch.
struct DispatchRace {
  abi::RaceRecord record; ///< the one that the report was made of
  report::Race race;
  bool isNew = false; ///< reported for the first time; else an earlier dispatch had shown it
  std::optional<size_t> shown = {}; ///< new: its number among those that the sinks got; nothing beyond max_reports
};

/// Thread-safe; calls of the sinks are serialised.
class Findings {
public:
  /// `maxReports`: distinct races passed to the sinks. `memory` names places in global memory.
  Findings(Sinks sinks, report::Suppressions suppressions, Status &status, const MemoryMap &memory,
           uint64_t maxReports);

  void dispatchSeen();
  void noTwin(const std::string &kernel);
  void unchecked(const std::string &kernel, const std::string &reason);
  void drained(const Kernel &kernel, uint64_t dispatch, const DispatchResult &result);
  /// A later pass of a dispatch, over another part of memory: races in global memory that are new are reported, and nothing
  /// else is counted.
  void partDrained(const Kernel &kernel, uint64_t dispatch, const DispatchResult &result);
  /// A checked dispatch is about to run; drained() or unfinished() follows unless the process is killed.
  void submitted() { Page.add(&abi::StatusPage::dispatchesPending); }
  /// One that was submitted has ended, and what it found is not wanted.
  void discarded() { Page.subtract(&abi::StatusPage::dispatchesPending); }
  void unfinished(uint64_t dispatches);
  /// A dispatch after finish(): said at once, once per kernel, since the summary has been printed.
  void lateDispatch(const std::string &kernel);

  /// The machine code of a code object has been checked for missing waits. Hazards of kernels that `selected` refuses
  /// are left out.
  void waitsChecked(const WaitCheckResult &result, const std::function<bool(const report::WaitHazard &)> &selected);

  /// Keeps the races of this dispatch, those that were reported before included, suppressed ones excluded.
  /// `asksBudget`: somebody will call outsideBudget().
  void watch(uint64_t dispatch, bool asksBudget = false);
  std::vector<DispatchRace> takeWatched(uint64_t dispatch);
  /// Accesses of a watched dispatch for whose records there was no memory. Before takeWatched(). Whoever
  /// asks says what is counted of that: budgetUsedUp(), or nothing.
  uint64_t outsideBudget(uint64_t dispatch);
  /// `why`: besides that the budget did not do; empty: nothing besides.
  void budgetUsedUp(const Kernel &kernel, const std::string &why);
  /// This dispatch will have none, should the budget not do.
  void noFurtherPasses(uint64_t dispatch, const std::string &why);
  /// One dispatch has had so many passes over parts of memory.
  void furtherPasses(uint64_t passes);
  /// If this dispatch turns out to show a race that is reported, says `line` too. Several lines are possible.
  void sayIfRacy(uint64_t dispatch, std::string line);

  /// What running the dispatch of a new race again has shown.
  void confirmed(const DispatchRace &race, const report::Confirmation &confirmation);
  /// The same of all new races that this dispatch turns out to show: it is not run again.
  void notConfirmed(uint64_t dispatch, const std::string &reason);

  /// A race between commands.
  void streamRace(report::Race race);
  /// `compare` compares what is left, during which streamRace() may be called, and counts in the summary it gets.
  void streamsCompared(const std::function<void(report::Summary &)> &compare);

  void message(const std::string &line);
  /// A failure of the tool itself. The same line is printed once, however often it happens.
  void error(const std::string &line);

  /// How findings of a class count from now on; others are errors. `severity` empty: they are counted as suppressed
  /// by `rule`. Call it before the first dispatch.
  void setSeverity(abi::RaceClass c, std::optional<report::Severity> severity, std::string rule) {
    Severities[c] = {severity, std::move(rule)};
  }
  /// The same of pairs of stores that always write the same value, whatever their class.
  void setSameValue(std::optional<report::Severity> severity, std::string rule) {
    SameValue = ClassRule{severity, std::move(rule)};
  }
  /// One message for each suppression that has matched nothing.
  void namesUnusedSuppressions();
  /// Passes the summary to the sinks, the first time it is called.
  void finish();

private:
  struct ClassRule {
    std::optional<report::Severity> severity;
    std::string name;
  };
  void addRaces(const Kernel &kernel, uint64_t dispatch, const DispatchResult &result, bool onlyNew = false);
  void sayBudgetUsedUp(const Kernel &kernel, const std::string &why);
  /// The number that the sinks know it by, if they got it.
  std::optional<size_t> addRace(const report::Race &race);
  void sayConfirmed(const DispatchRace &race, const report::Confirmation &confirmation);
  void say(const std::string &line);
  void sayError(const std::string &line);

  Sinks Out;
  const report::Suppressions Known;
  Status &Page;
  const MemoryMap &Memory;
  const uint64_t MaxReports;
  std::mutex Mutex;
  report::Summary Sum;
  std::set<std::string> CheckedKernels;   ///< name and place of definition
  std::map<std::string, bool> KnownRaces; ///< RaceKey::text -> suppressed
  std::set<std::string> PrintedErrors;
  std::map<abi::RaceClass, ClassRule> Severities;
  std::optional<ClassRule> SameValue;
  struct WatchedDispatch {
    std::vector<DispatchRace> races;
    bool asksBudget = false;
    uint64_t outsideBudget = 0;
  };
  std::map<uint64_t, WatchedDispatch> Watched; ///< by dispatch
  std::multimap<uint64_t, std::string> Remarks;            ///< of sayIfRacy()
  std::map<uint64_t, std::string> NotConfirmed;            ///< reasons, by dispatch
  std::map<uint64_t, std::string> NoFurtherPasses;         ///< reasons, by dispatch
  size_t Shown = 0;                                        ///< races that the sinks got
  bool Finished = false;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_FINDINGS_H
