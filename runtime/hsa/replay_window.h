// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who may use an agent: while one of its dispatches is replayed, nobody else.
//
// Submissions and copies share the window of their agent for as long as the call takes. What they leave behind on the
// device is known by fences: a barrier packet behind each batch of a queue, and a count of asynchronous copies. A
// replay takes the window for itself and then waits for the fences, so it never touches the queue of another thread,
// which may be held by that thread.
//
// While a callback of the subscriber runs, it may wait for work that other threads submit on its behalf (HIP's own
// threads do). A submission that has waited for a while behind a callback is therefore let in, and the replay ends with
// the pass that it has reached. The same holds for a pass of a graph: its packets go through the queues' handlers, and
// it may wait for the handler of a queue, or for a lock of the language runtime, that a thread holds which waits here.
//
// All of this costs nothing until a tool subscribes to kernel replay.
#ifndef WAVESAN_HSA_REPLAY_WINDOW_H
#define WAVESAN_HSA_REPLAY_WINDOW_H

#include "api.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

namespace wavesan::hsa {

/// The fences of one queue. Thread-safe.
class QueueFences {
public:
  /// A barrier packet that passes when everything before it in the queue is complete. False: no signal can be had.
  bool next(const Api &api, hsa_barrier_and_packet_t &packet);
  /// Waits until everything in front of the last fence is complete. False: not within the time.
  bool wait(const Api &api, std::chrono::steady_clock::time_point until);
  /// Something in front of the last fence is not complete.
  bool busy(const Api &api);
  /// Something has no fence behind it: it was submitted before anybody subscribed. Until the next fence nobody can say
  /// whether it is complete.
  void noteUnfenced() { Unfenced.store(true, std::memory_order_relaxed); }

private:
  std::atomic<bool> Unfenced{false};
  std::mutex Mutex;
  std::deque<hsa_signal_t> Pending; ///< the last one speaks for all
  std::vector<hsa_signal_t> Free;
};

/// Of one agent. Thread-safe.
class AgentWindow {
public:
  using Shared = std::shared_lock<std::shared_timed_mutex>;
  using Exclusive = std::unique_lock<std::shared_timed_mutex>;

  /// Does not own the window if it has interrupted a replay.
  Shared share();
  /// Does not own the window if it was not free in time, or if a replay has been interrupted.
  Exclusive take(std::chrono::steady_clock::time_point until);

  // Of the owner:
  void callbackBegins();
  void callbackEnds();
  /// A pass whose packets go through the handlers of the queues, with fences behind them. Others are let in if it takes
  /// longer than `limit`, or if nothing of it is under way for a while.
  void passBegins(const Api &api, std::chrono::milliseconds limit);
  void passEnds();
  /// Work of another thread has come with the owner's.
  void letIn();
  /// Since take().
  bool interrupted() const;

  void addQueue(QueueFences *fences);
  void removeQueue(QueueFences *fences);
  bool hasQueues() const;
  void copyBegins();
  void copyEnds();
  /// Waits for all queues but `own`, and for all copies. False: not within the time.
  bool waitOthers(const Api &api, const QueueFences *own, std::chrono::steady_clock::time_point until);

private:
  /// A callback of the owner runs, and has for long enough; or a pass, that does not come to an end.
  /// Asked by who has waited since `waits`.
  bool interrupt(std::chrono::steady_clock::time_point waits);
  bool passIsStuck(std::chrono::steady_clock::time_point waits, std::chrono::steady_clock::time_point now);

  std::shared_timed_mutex Mutex;
  mutable std::mutex StateMutex;
  std::optional<std::chrono::steady_clock::time_point> CallbackSince;
  struct Pass {
    const Api *api;
    std::chrono::steady_clock::time_point until, lastBusy;
  };
  std::optional<Pass> Current;
  bool Interrupted = false;
  std::condition_variable CopyEnded;
  std::vector<QueueFences *> Queues;
  uint64_t Copies = 0;
};

/// Thread-safe.
class WindowTable {
public:
  AgentWindow &of(hsa_agent_t agent);
  /// Of the only agent that has queues, and the agent; null: there are none, or several.
  AgentWindow *only(hsa_agent_t &agent);
  /// Shared locks of all windows: for calls that concern memory of any agent.
  std::vector<AgentWindow::Shared> shareAll();

private:
  std::mutex Mutex;
  std::map<uint64_t, std::unique_ptr<AgentWindow>> Windows;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_REPLAY_WINDOW_H
