// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes every queue of the program an intercepted one.
#ifndef WAVESAN_HSA_QUEUE_INTERCEPTOR_H
#define WAVESAN_HSA_QUEUE_INTERCEPTOR_H

#include "api.h"
#include "replay_window.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace wavesan::hsa {

/// A queue of the program. Lives as long as the tool: packet handlers and error callbacks hold pointers to it.
struct QueueState {
  uint64_t number = 0; ///< from 1
  hsa_agent_t agent{};
  hsa_queue_t *handle = nullptr; ///< null: not intercepted
  bool cooperative = false;
  void (*errorCallback)(hsa_status_t, hsa_queue_t *, void *) = nullptr; ///< the program's
  void *errorData = nullptr;
  QueueFences fences; ///< for kernel replay
};

/// Thread-safe.
class QueueRegistry {
public:
  QueueState *create(hsa_agent_t agent, bool cooperative);
  void bind(hsa_queue_t *queue, QueueState *state);
  /// Forgets the binding; the state still knows the queue. Null when the queue is unknown.
  QueueState *unbind(const hsa_queue_t *queue);

private:
  std::mutex Mutex;
  std::vector<std::unique_ptr<QueueState>> All;
  std::map<const hsa_queue_t *, QueueState *> Bound;
};

void installQueueInterceptors(CoreApiTable &core);
void removeQueueInterceptors(CoreApiTable &core, const CoreApiTable &original);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_QUEUE_INTERCEPTOR_H
