// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The subscriber of kernel replay, the contexts that are active, and the table of functions that tools get.
#ifndef WAVESAN_HSA_REPLAY_SERVICE_H
#define WAVESAN_HSA_REPLAY_SERVICE_H

#include "wavesan/kernel_replay.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

namespace wavesan::hsa {

/// Thread-safe. One for the process: the functions of a C table carry no context.
class ReplayService {
public:
  static ReplayService &instance(); ///< never destroyed: a tool may call until the process is gone

  wavesan_replay_status_t subscribe(const wavesan_replay_subscription_t *subscription);
  wavesan_replay_status_t unsubscribe();
  wavesan_replay_status_t setContext(wavesan_replay_context_t context, bool active);
  wavesan_replay_status_t isActive(wavesan_replay_context_t context, int *active) const;

  /// Nothing without a subscriber that wants CONFIG. Cheap when there never was one.
  std::optional<wavesan_replay_subscription_t> subscription() const;
  /// This runtime can do what the context stands for. RACE_CHECK, DISPATCH_TIMING and OUTPUT_DIGEST are there
  /// everywhere.
  void provide(wavesan_replay_context_t context) { Provided.fetch_or(1u << context); }

  /// WaveSan itself will replay dispatches, or record them.
  void useWindows() { Ever.store(true, std::memory_order_release); }
  /// useWindows(), or there is or was a subscriber: from then on submissions keep out of the windows of others.
  bool everSubscribed() const { return Ever.load(std::memory_order_acquire); }
  uint32_t activeContexts() const { return Contexts.load(std::memory_order_relaxed); }

  /// Loads a tool and calls its wavesan_tool_init. False, and one line in `error`, if that fails.
  bool loadTool(const std::string &file, std::string &error);
  /// Calls wavesan_tool_finish of the tool, once.
  void finishTool();

private:
  static constexpr uint32_t kDefaultContexts = 1u << WAVESAN_CONTEXT_RACE_CHECK;
  /// Of a tool that could not begin, nothing that it has asked for before stays.
  void withdrawTool();
  wavesan_replay_status_t statusOf(wavesan_replay_context_t context) const;

  mutable std::mutex Mutex;
  std::optional<wavesan_replay_subscription_t> Subscription;
  std::atomic<bool> Ever{false};
  std::atomic<uint32_t> Provided{1u << WAVESAN_CONTEXT_RACE_CHECK | 1u << WAVESAN_CONTEXT_DISPATCH_TIMING |
                                 1u << WAVESAN_CONTEXT_OUTPUT_DIGEST};
  std::atomic<uint32_t> Contexts{kDefaultContexts};
  void (*ToolFinish)() = nullptr;
};

/// The table for tools; `size` and `version` are filled in. Never freed.
const wavesan_replay_api_t &replayApi();

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_REPLAY_SERVICE_H
