// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Consecutive dispatches of one queue as the range of a kernel replay (begin_range, end_range of
// wavesan/kernel_replay.h).
//
// While a range is open its dispatches are held back in the queue's packet handler. A packet of WaveSan's own, a
// marker, then makes that handler run them or give them up, so that nothing overtakes them and packets are written by
// the handler alone.
#ifndef WAVESAN_HSA_REPLAY_RANGE_H
#define WAVESAN_HSA_REPLAY_RANGE_H

#include "queue_interceptor.h"
#include "replay_loop.h"
#include "replay_packet.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace wavesan::hsa {

inline constexpr char kDeclineRangeEmpty[] = "range_empty";
inline constexpr char kDeclineRangeBarrier[] = "range_barrier";
inline constexpr char kDeclineRangeCopy[] = "range_copy";
inline constexpr char kDeclineRangeGraph[] = "range_graph";
inline constexpr char kDeclineRangeQueues[] = "range_queues";
inline constexpr char kDeclineRangeLong[] = "range_too_long";
inline constexpr char kDeclineRangeOpen[] = "range_not_closed";
inline constexpr char kDeclineRangeThread[] = "range_no_thread";

/// Thread-safe. One for the process, as the interface has one range.
class ReplayRange {
public:
  static ReplayRange &instance(); ///< never destroyed: a tool may call until the process is gone

  wavesan_replay_status_t begin();
  wavesan_replay_status_t end(wavesan_replay_range_t *result);

  /// What a packet handler does with a packet.
  struct Step {
    bool keeps = false; ///< the packet is none of the handler's business any more
    bool runs = false;  ///< `dispatches` are the range; else they come in front of the packet
    std::vector<QueuedDispatch> dispatches;
  };
  /// For packets that come from outside of replays. Cheap while no range is open.
  Step onPacket(Tool &tool, QueueState &queue, const void *packet);
  /// The handler has run the range, or has found that it cannot.
  void ran(const ReplayOutcome &outcome);

  /// Something else happens that the open range cannot have. Returns when what it holds is on its way. Not from inside
  /// of a packet handler.
  void giveUp(const char *why);
  /// The queue is about to be destroyed.
  void queueGoes(const QueueState &queue);

private:
  enum class State { Closed, Open, Ending, Running, Ran };
  void submitMarker(const QueueState &queue);
  void decline(const char *why) {
    if (!Outcome.declined)
      Outcome.declined = why;
  }
  void watch(uint64_t serial, std::chrono::steady_clock::time_point until);

  std::atomic<bool> Active{false}; ///< not Closed
  std::mutex Mutex;
  std::condition_variable Changed;
  State Now = State::Closed;
  uint64_t Serial = 0; ///< of the range
  QueueState *Queue = nullptr;
  std::vector<QueuedDispatch> Held;
  uint64_t Got = 0;
  ReplayOutcome Outcome;
  std::thread Watchdog;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_REPLAY_RANGE_H
