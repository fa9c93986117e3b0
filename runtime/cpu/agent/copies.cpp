// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "copies.h"

#include "fault_handler.h"
#include "signals.h"

#include <atomic>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace wavesan::agent {
namespace {

struct Copy {
  std::function<void()> work;
  std::vector<hsa_signal_t> dependencies;
  hsa_signal_t completion;

  enum State { Waiting, Ready, Failed };
  State state() const {
    State result = Ready;
    for (hsa_signal_t s : dependencies) {
      const int64_t value = signalValue(s);
      if (value < 0)
        return Failed;
      if (value != 0)
        result = Waiting;
    }
    return result;
  }
};

class CopyThread {
public:
  void submit(Copy copy) {
    {
      std::lock_guard lock(Mutex);
      if (!Started) { // first: if there is no thread, there is no copy
        std::thread([this] { run(); }).detach();
        Started = true;
      }
      Pending.push_back(std::move(copy));
    }
    Generation.fetch_add(1, std::memory_order_release);
    signalEvents().notify();
  }

  void stop() { Stopped = true; }

  bool isBusy() { return Executing || anyReady(); }

private:
  void run() {
    while (!Stopped) {
      const uint32_t generation = Generation.load(std::memory_order_acquire);
      std::list<Copy> next;
      bool idle = true;
      {
        // The first that can run, in order of submission: a copy may wait for one that was submitted after it.
        std::lock_guard lock(Mutex);
        idle = Pending.empty();
        for (auto it = Pending.begin(); it != Pending.end(); ++it)
          if (it->state() != Copy::Waiting) {
            Executing = true; // before it is no longer seen to be ready
            next.splice(next.begin(), Pending, it);
            break;
          }
      }
      if (!next.empty()) {
        execute(next.front());
        Executing = false;
        continue;
      }
      signalEvents().wait(
          [&] { return Stopped || Generation.load(std::memory_order_acquire) != generation || anyReady(); }, kForever,
          idle ? kForever : kSignalPollNs);
    }
  }

  void execute(Copy &copy) {
    const uint64_t start = nowNs();
    if (copy.state() == Copy::Failed)
      return failSignal(copy.completion, start, start);
    {
      FaultScope scope("an asynchronous copy");
      copy.work();
    }
    completeSignal(copy.completion, start, nowNs());
  }

  bool anyReady() {
    std::lock_guard lock(Mutex);
    for (const Copy &c : Pending)
      if (c.state() != Copy::Waiting)
        return true;
    return false;
  }

  std::mutex Mutex;
  std::list<Copy> Pending;
  bool Started = false;
  std::atomic<bool> Stopped{false}, Executing{false};
  std::atomic<uint32_t> Generation{0};
};

CopyThread &copyThread() {
  static CopyThread &thread = *new CopyThread; // outlives static destructors
  return thread;
}

} // namespace

void submitCopy(std::function<void()> work, uint32_t dependencyCount, const hsa_signal_t *dependencies,
                hsa_signal_t completion) {
  Copy copy{std::move(work), {}, completion};
  for (uint32_t i = 0; i < dependencyCount; ++i)
    if (dependencies[i].handle)
      copy.dependencies.push_back(dependencies[i]);
  copyThread().submit(std::move(copy));
}

bool isCopying() { return copyThread().isBusy(); }
void stopCopies() { copyThread().stop(); }

} // namespace wavesan::agent
