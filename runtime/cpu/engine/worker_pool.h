// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that help whoever has work for several. They sleep in between.
#ifndef WAVESAN_CPU_ENGINE_WORKER_POOL_H
#define WAVESAN_CPU_ENGINE_WORKER_POOL_H

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace wavesan::cpu::engine {

/// Thread-safe: several threads may call run() at once, and share the pool's threads.
class WorkerPool {
public:
  /// More than these never help one call.
  static constexpr uint32_t kMaxWorkers = 256;

  WorkerPool() = default;
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;
  ~WorkerPool(); ///< joins; nobody may be in run()

  /// The one of the process. It is never destroyed: dispatches run until the process ends.
  static WorkerPool &shared();

  /// Calls `work` on the calling thread, and on up to `workers - 1` others as they come free, all with the same work to
  /// share out among themselves. Once the calling thread's call has returned, nobody begins another one, and run()
  /// returns when those that have begun have returned. If a call throws, `failed` is called on its thread, which should
  /// make the others return soon; run() then throws the first exception.
  void run(uint32_t workers, const std::function<void()> &work, const std::function<void()> &failed);

  /// Threads that have been started: as many as one call has ever asked for.
  uint32_t threads() const;

private:
  struct Job {
    const std::function<void()> &work, &failed;
    uint32_t wanted;      ///< threads that may still begin
    uint32_t running = 0; ///< of the pool's threads
    std::exception_ptr error;
    std::condition_variable returned;
  };
  void serve();
  void call(Job &job);

  mutable std::mutex Mutex;
  std::condition_variable Wanted;
  std::deque<Job *> Jobs; ///< that want threads
  std::vector<std::jthread> Threads;
  bool Ending = false;
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_WORKER_POOL_H
