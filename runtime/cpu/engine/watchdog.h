// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says where the waves of a dispatch stand that runs for long. Looks at the clock now and then while waves execute, so
// that it changes nothing about which of them runs when.
#ifndef WAVESAN_CPU_ENGINE_WATCHDOG_H
#define WAVESAN_CPU_ENGINE_WATCHDOG_H

#include "workgroup.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace wavesan::cpu::engine {

/// The source lines at which a workgroup's waves stand, one line of text for each: "waves 0 to 2, 5 at app.hip:12".
/// `waiting`: waves that wait at the barrier of the workgroup.
std::vector<std::string> linesOfWaves(const Workgroup &group, uint64_t waiting);

class WatchPost;

/// Of one launch. Each thread that executes workgroups of it has a WatchPost, and describes its own ones.
class Watchdog {
public:
  /// `begun`: how many workgroups have been started.
  Watchdog(const LaunchState &launch, uint64_t workgroups, std::function<uint64_t()> begun);

private:
  friend class WatchPost;
  using Clock = std::chrono::steady_clock;
  using Description = std::map<uint64_t, std::string>; ///< of workgroups, by their linear ids

  void call(std::chrono::milliseconds ran);
  void tell();

  const LaunchState &Launch;
  const uint64_t Workgroups;
  const std::function<uint64_t()> Begun;
  const Clock::time_point Begin = Clock::now();
  std::atomic<int64_t> NextMs;    ///< when to say something next
  std::atomic<uint64_t> Round{0}; ///< grows when the posts are to describe what they see

  std::mutex Mutex;                ///< guards the rest
  uint32_t Posts = 0, Missing = 0; ///< all; those that have not answered in this round
  std::chrono::milliseconds Ran{0};
  uint64_t Residents = 0;
  Description Seen;
};

class WatchPost {
public:
  /// A resident workgroup.
  struct Standing {
    const Workgroup *group;
    uint64_t waiting;
  };
  /// Returns this thread's resident workgroups.
  using Residents = std::function<std::vector<Standing>()>;

  WatchPost(Watchdog &watchdog, Residents residents);
  ~WatchPost();
  WatchPost(const WatchPost &) = delete;
  WatchPost &operator=(const WatchPost &) = delete;

  /// A wave of this thread has executed some thousands of operations: next to those a look at the clock costs nothing.
  void look();

private:
  void answer(std::vector<Standing> residents);

  Watchdog &Dog;
  const Residents GetResidents;
  uint64_t Answered;
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_WATCHDOG_H
