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
//
// A thread takes neighbouring workgroups together: as a rule they share memory, and so cache lines and parts of the
// shadow, with one another.
#ifndef WAVESAN_CPU_ENGINE_CREW_H
#define WAVESAN_CPU_ENGINE_CREW_H

#include "workgroup.h"

#include <algorithm>
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
  /// Workgroups [next, end) that one thread has taken and not started.
  struct Block {
    uint64_t next = 0, end = 0;
  };
  /// The next workgroup of a thread with this block, which gets another one when it is used up. False if there is none
  /// to be started.
  bool take(Block &block, uint64_t &id) {
    if (over())
      return false;
    if (block.next == block.end && !refill(block))
      return false;
    if (block.next >= Launch.failedAt.load(std::memory_order_relaxed)) {
      block.next = block.end;
      return false;
    }
    id = block.next++;
    Started.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  /// Whether take() may deliver another one.
  bool more(const Block &block) const {
    const uint64_t failed = Launch.failedAt.load(std::memory_order_relaxed);
    return !over() &&
           (block.next != block.end ? block.next < failed
                                    : failed == kNobody && Next.load(std::memory_order_relaxed) < Workgroups);
  }
  /// Workgroups that have been started.
  uint64_t taken() const { return Started.load(std::memory_order_relaxed); }
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
  /// Small enough that all threads end at about the same time.
  static constexpr uint64_t kMaxBlock = 64, kBlocksPerWorker = 4;
  bool refill(Block &block) {
    uint64_t at = Next.load(std::memory_order_relaxed), size;
    do {
      if (at >= Workgroups || Launch.failedAt.load(std::memory_order_relaxed) != kNobody)
        return false;
      size = std::clamp<uint64_t>((Workgroups - at) / (kBlocksPerWorker * Workers), 1, kMaxBlock);
    } while (!Next.compare_exchange_weak(at, at + size, std::memory_order_relaxed));
    block = {at, at + size};
    return true;
  }

  LaunchState &Launch;
  const uint64_t Workgroups;
  const bool Independent;
  const uint32_t Workers;
  std::atomic<uint64_t> Next{0}; ///< in no block so far
  std::atomic<uint64_t> Started{0};
  std::atomic<uint32_t> Active{0};
  std::atomic<bool> Over{false};
  std::mutex Mutex;
  Outcome Result;
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_CREW_H
