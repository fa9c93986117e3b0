// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the threads that execute one launch share: which workgroup is next, and how the launch ends.
//
// One thread in one seeded order: the first error is the outcome. Several threads, for workgroups that are independent
// (independence.h): of those that fail the lowest is the outcome, as far as that can be known. Nobody starts a
// workgroup behind one that has failed, and those under way are given up; those before it go on, but a workgroup that
// has executed very much is not waited for. One thread follows the same rule, so the outcome does not depend on their
// number.
#ifndef WAVESAN_CPU_ENGINE_CREW_H
#define WAVESAN_CPU_ENGINE_CREW_H

#include "workgroup.h"

#include <atomic>
#include <mutex>

namespace wavesan::cpu::engine {

/// Thread-safe.
class Crew {
public:
  Crew(LaunchState &launch, uint64_t workgroups, bool independent, uint32_t workers)
      : Launch(launch), Workgroups(workgroups), Independent(independent), Workers(workers) {}

  bool independent() const { return Independent; }
  /// Threads that may take part.
  uint32_t workers() const { return Workers; }
  /// The next workgroup. False if there is none to be started.
  bool take(uint64_t &id) {
    if (over() || Launch.failedAt.load(std::memory_order_relaxed) != kNobody)
      return false;
    id = Next.fetch_add(1, std::memory_order_relaxed);
    return id < Workgroups;
  }
  /// Whether take() may deliver another one.
  bool more() const {
    return !over() && Launch.failedAt.load(std::memory_order_relaxed) == kNobody &&
           Next.load(std::memory_order_relaxed) < Workgroups;
  }
  /// Workgroups that have been started.
  uint64_t taken() const { return std::min(Next.load(std::memory_order_relaxed), Workgroups); }
  /// A thread takes part.
  void join() { Active.fetch_add(1, std::memory_order_relaxed); }
  /// A thread that has none to go on with finds no memory for a workgroup. True if nobody else is left to execute any.
  bool leave() { return Active.fetch_sub(1, std::memory_order_relaxed) == 1; }
  /// The workgroup has failed.
  void fail(uint64_t id, Outcome outcome);
  /// The launch ends with this at once.
  void end(Outcome outcome);
  /// Nobody shall go on.
  bool over() const { return Over.load(std::memory_order_acquire); }
  /// After the last thread is done.
  Outcome outcome() { return std::move(Result); }

  static constexpr uint64_t kNobody = ~uint64_t(0);

private:
  LaunchState &Launch;
  const uint64_t Workgroups;
  const bool Independent;
  const uint32_t Workers;
  std::atomic<uint64_t> Next{0};
  std::atomic<uint32_t> Active{0};
  std::atomic<bool> Over{false};
  std::mutex Mutex;
  Outcome Result;
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_CREW_H
