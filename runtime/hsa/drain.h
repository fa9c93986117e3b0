// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waits for checked dispatches, reads what they left, and then completes them for the program.
//
// One thread of its own: the runtime's thread for asynchronous handlers may be held up by a callback of the
// program, which may itself wait for one of these dispatches.
#ifndef WAVESAN_HSA_DRAIN_H
#define WAVESAN_HSA_DRAIN_H

#include "dispatch_resources.h"
#include "findings.h"
#include "kernel_table.h"
#include "stream_races.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace wavesan::hsa {

/// A dispatch between its submission and its drain.
struct PendingDispatch {
  std::shared_ptr<const Kernel> kernel;
  uint64_t dispatch = 0; ///< number
  uint64_t queue = 0;    ///< number of the queue
  DispatchMemory memory;
  hsa_signal_t programSignal{}; ///< completion signal of the program's packet; may be null
  std::shared_ptr<StreamDispatch> stream; ///< null: it belongs to no known command
  bool quiet = false;           ///< a pass whose findings nobody wants
  bool part = false;            ///< a later pass over another part of memory
  std::shared_ptr<abi::Delays>
      delays; ///< gets what the device has left of them, before the program sees that it is complete; null: nobody asks
  bool reported = false;        ///< its results have been passed on already (salvage)
};

/// Thread-safe.
class Drain {
public:
  Drain(const Api &api, DispatchResources &resources, Findings &findings);
  ~Drain();

  /// Before the packet is published. Waits a bounded time while too many dispatches are pending; false when that does
  /// not help, the system gives no thread, or the drain has been stopped (the dispatch is not taken).
  bool submit(const PendingDispatch &dispatch);

  /// Waits until every dispatch submitted so far of this queue (0: of all) has been drained. False after `limit`.
  bool waitIdle(uint64_t queue, std::chrono::milliseconds limit);

  /// Gives up the pending dispatches of a queue that no longer executes them: they are counted as unfinished, and
  /// their memory is never reused, because the device may still write to it.
  void abandon(uint64_t queue);

  /// Reports what the pending dispatches of a failed queue have found so far. They stay pending, since the runtime may
  /// still complete their signals.
  void salvage(uint64_t queue);

  size_t pending() const;

  /// Ends the thread. What is still pending stays pending. Bounded in time. Idempotent.
  void stop();

private:
  void run();
  bool isComplete(const PendingDispatch &dispatch, hsa_signal_value_t &value) const;
  /// Without the lock.
  void complete(const PendingDispatch &dispatch, hsa_signal_value_t value);
  /// Copies results out of memory that the device may still be writing to unless the dispatch has completed.
  void report(const PendingDispatch &dispatch, bool failed);
  size_t countOf(uint64_t queue) const;

  const Api &Runtime;
  DispatchResources &Resources;
  Findings &Found;
  mutable std::mutex Mutex;
  std::condition_variable Arrived; ///< work for the thread, or Stopping
  std::condition_variable Changed; ///< something has been drained, or the thread has ended
  std::deque<PendingDispatch> Pending;
  uint64_t Busy = 0; ///< queue number of the dispatch that the thread is completing now; 0: none
  bool Stopping = false, Running = false;
  std::thread Thread;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_DRAIN_H
