// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads of a check. One crew serves all objects: while one large object is left, everybody works on its kernels.
#ifndef WAVESAN_WAITCHECK_CREW_H
#define WAVESAN_WAITCHECK_CREW_H

#include "IsaContext.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <thread>

namespace wavesan::waitcheck {

/// Decoders by target and wave size. One per thread: not thread-safe.
class Decoders {
public:
  llvm::Expected<IsaContext *> get(const TargetEntry &target, bool wave64);

private:
  std::map<std::pair<const TargetEntry *, bool>, std::unique_ptr<IsaContext>> contexts;
};

/// Threads with a decoder each. Loops may be nested and may run at the same time; the thread that starts one works on
/// it, too, so that no loop waits for a free thread. Locks are taken once for each piece of work, none while it is
/// done.
class Crew {
public:
  /// `threads`: at a time, the caller's own included. They are started when a loop first has work for them.
  explicit Crew(unsigned threads);
  ~Crew();
  Crew(const Crew &) = delete;
  Crew &operator=(const Crew &) = delete;

  /// Calls work(i, decoders) for every i below n, and returns when all are done. Thread-safe. `own`: the calling
  /// thread's decoders.
  void forEach(size_t n, Decoders &own, llvm::function_ref<void(size_t, Decoders &)> work);

private:
  struct Loop {
    size_t n, next = 0, running = 0;
    llvm::function_ref<void(size_t, Decoders &)> work;
  };
  void serve();
  bool runOne(std::unique_lock<std::mutex> &lock, Loop &loop, Decoders &decoders);

  const unsigned wanted;
  std::mutex mutex;
  std::condition_variable news; ///< a loop was added, work was finished, or the end
  std::list<Loop *> loops;      ///< oldest first
  std::vector<std::thread> threads;
  bool ending = false;
};

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_CREW_H
