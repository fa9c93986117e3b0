// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One execution of a capsule in a process of its own, and what it showed.
#ifndef WAVESAN_DRIVER_CAPSULE_RUN_H
#define WAVESAN_DRIVER_CAPSULE_RUN_H

#include "layout.h"

#include "graph_file.h"
#include "wavesan/capsule/capsule.h"

#include <optional>
#include <set>
#include <string>

namespace wavesan::driver {

struct CapsuleSetting {
  const Layout &layout;
  bool cpu; ///< on the CPU agent
  std::optional<uint64_t> seed;
  bool accesses = false; ///< CapsuleRun::touched is wanted
};

struct CapsuleRun {
  std::string problem;         ///< why it could not be run, one line; empty: it was
  bool failed = false;         ///< the dispatch ended with an error
  std::set<std::string> races; ///< report::raceKey()
  uint64_t digest = 0;         ///< of memory afterwards, unless failed
  /// What the dispatch touched, if that was wanted.
  std::vector<streams::TouchedBytes> touched;
  std::vector<abi::SyncPlace> places; ///< by address
};

/// Keys of the races that were recorded. Nothing, and one line in `error`, if they cannot be read.
std::optional<std::set<std::string>> recordedRaces(const capsule::Capsule &capsule, std::string &error);

/// Executes the file, which holds `capsule`. Without `quiet` the races are printed as in `wavesan run`.
CapsuleRun runCapsule(const CapsuleSetting &setting, const std::string &file, const capsule::Capsule &capsule,
                      bool quiet);

/// Memory of this machine that a capsule's contents may take.
uint64_t capsuleBytesLimit();

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_CAPSULE_RUN_H
