// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sequence of callbacks and passes for one dispatch (wavesan/kernel_replay.h), apart from how memory is saved and
// how a pass is executed.
#ifndef WAVESAN_HSA_REPLAY_LOOP_H
#define WAVESAN_HSA_REPLAY_LOOP_H

#include "wavesan/kernel_replay.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

namespace wavesan::hsa {

// Reasons for which a dispatch runs once. Words of docs/replay.md: machine-readable, so stable.
inline constexpr char kDeclineNoPassCount[] = "no_pass_count";
inline constexpr char kDeclineOnePass[] = "one_pass";
inline constexpr char kDeclineEndless[] = "endless_without_continue";
inline constexpr char kDeclineUntracked[] = "untracked_memory";
inline constexpr char kDeclineBudget[] = "footprint_budget";
inline constexpr char kDeclineSnapshot[] = "snapshot_failed";
inline constexpr char kDeclineFile[] = "snapshot_file";
inline constexpr char kDeclineQueueDrain[] = "queue_drain_stuck";
inline constexpr char kDeclineAgentDrain[] = "agent_drain_stuck";
inline constexpr char kDeclineCooperative[] = "cooperative_launch";
inline constexpr char kDeclineHostCall[] = "host_communication";
inline constexpr char kDeclineAgents[] = "several_agents"; ///< of graphs
inline constexpr char kDeclineInterrupted[] = "window_interrupted"; ///< also ends a loop
inline constexpr char kDeclineOverdue[] = "pass_overdue";           ///< ends a loop; also of capsules and confirmations

struct ReplayLimits {
  uint64_t maxPasses = 0; ///< of a loop without a number of passes
  std::chrono::milliseconds maxTime{0};
};

struct MemoryStep {
  uint64_t bytes = 0, regions = 0, nanoseconds = 0;
  uint64_t tracked = 0; ///< of a snapshot: bytes of all memory that it could have had to save
  std::array<uint64_t, WAVESAN_TIER_LAST> tiers{}; ///< of a snapshot: where the bytes are
  bool fits = true;                                ///< of a plan: the budgets have room for all of it
  uint64_t copied = 0;                             ///< of a snapshot: bytes that have been copied from memory so far
  uint64_t compared = 0;                           ///< of a restore: bytes that were compared with what was saved
};

struct PassResult {
  uint64_t startNs = 0, endNs = 0, digest = 0, seed = 0;
  uint32_t contexts = 0;                      ///< bit c: context c took part
  const wavesan_access_t *accesses = nullptr; ///< valid until the next pass
  uint64_t accessCount = 0, accessesLost = 0;
  const uint64_t *dispatchAccesses = nullptr; ///< of each dispatch, how many of them; valid as long
  bool ended = true; ///< false: it takes too long, and the program has been told to wait for it. Nothing can follow.
};

/// What the loop needs of the dispatch. Not thread-safe; all calls come from the submitting thread.
class ReplayHost {
public:
  virtual ~ReplayHost() = default;
  /// Makes sure that nothing else runs on the agent until the host is destroyed, and finds out what must be saved
  /// (`predicted`). Null, or why not.
  virtual const char *open(MemoryStep &predicted) = 0;
  virtual const char *save(MemoryStep &taken) = 0;
  /// Executes the dispatch once and waits for it. Bit c of `contexts`: context c is wanted.
  virtual PassResult pass(uint64_t number, uint32_t contexts) = 0;
  /// Memory as save() found it. Does not return if that fails: the program's data would be wrong.
  virtual MemoryStep restore() = 0;
  /// A hash of all memory that was saved, as it is now; 0: there is none.
  virtual uint64_t digest() { return 0; }
  /// The last pass ended with an error of the queue: nothing can follow it.
  virtual bool failed() const = 0;
  /// A callback of the subscriber begins or ends. Only while one runs can the window be interrupted: what it waits for
  /// may be submitted by other threads.
  virtual void callback(bool begins) = 0;
  /// Other work has been let into the window: memory must not be restored any more.
  virtual bool interrupted() const = 0;
  virtual void warn(const std::string &text) = 0;
  /// Of a launch of a graph; 0: something else.
  virtual uint64_t graphNodes() const { return 0; }
  /// Of a range of dispatches; 0: something else.
  virtual uint64_t rangeDispatches() const { return 0; }
};

struct ReplayOutcome {
  uint64_t passes = 0;            ///< 0: not replayed; the caller runs the dispatch
  const char *declined = nullptr; ///< why not
  const char *stopped = nullptr;  ///< what ended the loop if the tool did not: an option, or one of the reasons above
};

/// Runs the whole sequence. `contexts`: active ones, bit by bit, when it begins.
ReplayOutcome runReplay(const wavesan_replay_subscription_t &subscription,
                        const wavesan_replay_dispatch_info_t &dispatch, uint32_t contexts, const ReplayLimits &limits,
                        ReplayHost &host);

/// True on a thread that is inside of runReplay().
bool insideReplay();

/// Inside of a replay, but not by a pass of it, something that may write the agent's memory has been submitted: by a
/// callback. Nothing elsewhere.
void noteWorkInside();
/// Whether that has happened in the replay that this thread is inside of.
bool workInside();

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_REPLAY_LOOP_H
