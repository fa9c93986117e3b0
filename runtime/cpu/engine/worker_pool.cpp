// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "worker_pool.h"

#include <algorithm>
#include <system_error>

namespace wavesan::cpu::engine {

WorkerPool &WorkerPool::shared() {
  static WorkerPool &pool = *new WorkerPool;
  return pool;
}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard lock(Mutex);
    Ending = true;
  }
  Wanted.notify_all();
}

uint32_t WorkerPool::threads() const {
  std::lock_guard lock(Mutex);
  return uint32_t(Threads.size());
}

void WorkerPool::call(Job &job) {
  try {
    job.work();
  } catch (...) {
    {
      std::lock_guard lock(Mutex);
      if (!job.error)
        job.error = std::current_exception();
    }
    job.failed();
  }
}

void WorkerPool::serve() {
  std::unique_lock lock(Mutex);
  for (;;) {
    Wanted.wait(lock, [&] { return Ending || !Jobs.empty(); });
    if (Ending)
      return;
    Job &job = *Jobs.front();
    if (--job.wanted == 0)
      Jobs.pop_front();
    ++job.running;
    lock.unlock();
    call(job);
    lock.lock();
    if (--job.running == 0)
      job.returned.notify_all(); // with the lock: the job is gone when the caller has seen it
  }
}

void WorkerPool::run(uint32_t workers, const std::function<void()> &work, const std::function<void()> &failed) {
  workers = std::clamp<uint32_t>(workers, 1, kMaxWorkers);
  Job job{work, failed, workers - 1, 0, nullptr, {}};
  if (job.wanted) {
    std::lock_guard lock(Mutex);
    // What the system refuses is done without.
    try {
      while (Threads.size() < workers - 1)
        Threads.emplace_back([this] { serve(); });
    } catch (const std::system_error &) {
    }
    Jobs.push_back(&job);
  }
  for (uint32_t k = 1; k < workers; ++k)
    Wanted.notify_one();
  call(job);
  if (workers > 1) {
    std::unique_lock lock(Mutex);
    std::erase(Jobs, &job);
    job.returned.wait(lock, [&] { return job.running == 0; });
  }
  if (job.error)
    std::rethrow_exception(job.error);
}

} // namespace wavesan::cpu::engine
