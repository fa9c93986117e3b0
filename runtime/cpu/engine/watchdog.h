// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says where the waves of a dispatch stand that runs for long. Looks at the clock now and then while waves execute, so
// that it changes nothing about which of them runs when.
#ifndef WAVESAN_CPU_ENGINE_WATCHDOG_H
#define WAVESAN_CPU_ENGINE_WATCHDOG_H

#include "workgroup.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace wavesan::cpu::engine {

/// The source lines at which a workgroup's waves stand, one line of text for each: "waves 0 to 2, 5 at app.hip:12".
/// `waiting`: waves that wait at the barrier of the workgroup.
std::vector<std::string> linesOfWaves(const Workgroup &group, uint64_t waiting);

/// Of one launch; used by the thread that executes it.
class Watchdog {
public:
  /// A resident workgroup.
  struct Standing {
    const Workgroup *group;
    uint64_t waiting;
  };
  /// Returns the resident workgroups; `ended`: how many have ended.
  using Residents = std::function<std::vector<Standing>(uint64_t &ended)>;

  Watchdog(const LaunchState &launch, uint64_t workgroups, Residents residents);

  /// A wave has executed some thousands of operations: next to those a look at the clock costs nothing.
  void look();

private:
  using Clock = std::chrono::steady_clock;

  const LaunchState &Launch;
  const uint64_t Workgroups;
  const Residents GetResidents;
  const Clock::time_point Begin = Clock::now();
  std::chrono::milliseconds Next;
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_WATCHDOG_H
