// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything the tool has found out in this process: distinct races, counters, losses. Reports as it learns.
#ifndef WAVESAN_HSA_FINDINGS_H
#define WAVESAN_HSA_FINDINGS_H

#include "kernel_table.h"
#include "status.h"

#include "wavesan/abi/dispatch.h"
#include "wavesan/report/sink.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace wavesan::hsa {

/// A copy of what a completed dispatch left behind.
struct DispatchResult {
  abi::DispatchCounters counters{};
  std::vector<abi::RaceRecord> records; ///< taken entries only
  bool failed = false;                  ///< completed with an error
};

/// Thread-safe; calls of the sink are serialised.
class Findings {
public:
  /// `maxReports`: distinct races passed to the sink.
  Findings(std::unique_ptr<report::Sink> sink, Status &status, uint64_t maxReports);

  void dispatchSeen();
  void noTwin(const std::string &kernel);
  void unchecked(const std::string &kernel, const std::string &reason);
  void drained(const Kernel &kernel, uint64_t dispatch, const DispatchResult &result);
  void unfinished(uint64_t dispatches);
  /// A dispatch after finish(): said at once, once per kernel, since the summary has been printed.
  void lateDispatch(const std::string &kernel);

  void message(const std::string &line);
  /// A failure of the tool itself. The same line is printed once, however often it happens.
  void error(const std::string &line);

  /// Passes the summary to the sink, the first time it is called.
  void finish();

private:
  void addRaces(const Kernel &kernel, uint64_t dispatch, const DispatchResult &result);

  std::unique_ptr<report::Sink> Out;
  Status &Page;
  const uint64_t MaxReports;
  std::mutex Mutex;
  report::Summary Sum;
  std::set<std::string> CheckedKernels; ///< name and place of definition
  std::set<std::string> KnownRaces;     ///< RaceKey::text
  std::set<std::string> PrintedErrors;
  bool Finished = false;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_FINDINGS_H
