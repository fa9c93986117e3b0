// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Missing waits in the machine code of code objects, at load (option check_waits).
//
// The checker is a program of its own (lib/wavesan/wavesan-check, beside this library): it needs LLVM's disassembler,
// which this library must not bring into a process that may hold another LLVM, and which may crash on damaged code.
#ifndef WAVESAN_HSA_WAIT_CHECK_H
#define WAVESAN_HSA_WAIT_CHECK_H

#include "wavesan/report/wait_hazard.h"

#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace wavesan::hsa {

struct WaitCheckResult {
  std::vector<report::WaitHazard> hazards; ///< hazards of a checked copy only where its original has none there
  uint64_t notShown = 0;                   ///< further hazards of kernels that have very many
  uint64_t incompleteFunctions = 0;
  std::vector<std::string> problems; ///< why the object, or a part of it, could not be checked: one line each
  bool complete = false;             ///< the checker came to its end
};

/// The mangled name of the kernel, or of the kernel that it is a checked copy of.
std::string originalName(const report::WaitHazard &hazard);

/// What the checker printed (`wavesan check --format=json`).
WaitCheckResult readWaitReport(std::string_view jsonLines);

/// Starts the checker. Thread-safe.
class WaitChecker {
public:
  /// `program`: the checker; empty: the one beside this library.
  explicit WaitChecker(std::string program = {});

  /// True the first time that an object with these bytes is asked for.
  bool isNew(std::string_view object);
  /// Checks one code object; returns when that is done. What goes wrong is in `problems`.
  WaitCheckResult check(std::string_view object) const;

private:
  std::string Program;
  std::mutex Mutex;
  std::set<std::pair<size_t, size_t>> Known; ///< length and hash
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_WAIT_CHECK_H
