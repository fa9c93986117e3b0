// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The handler thread: calls the functions registered with hsa_amd_signal_async_handler and hsa_amd_async_function.
#include "signals.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace wavesan::agent {
namespace {

struct Handler {
  hsa_signal_t signal;
  hsa_signal_condition32_t condition;
  int64_t compare;
  hsa_amd_signal_handler function;
  void *argument;

  bool isReady() const { return signalConditionHolds(condition, signalValue(signal), compare); }
};

class HandlerThread {
public:
  void add(Handler handler) {
    {
      std::lock_guard lock(Mutex);
      start();
      Handlers.push_back(handler);
    }
    wake();
  }

  void call(std::function<void()> function) {
    {
      std::lock_guard lock(Mutex);
      start();
      Functions.push_back(std::move(function));
    }
    wake();
  }

  void remove(hsa_signal_t signal) {
    std::lock_guard lock(Mutex);
    std::erase_if(Handlers, [&](const Handler &h) { return h.signal.handle == signal.handle; });
  }

  void stop() { Stopped = true; }

private:
  void start() {
    if (!Started) { // if there is no thread, what needs it is not taken
      std::thread([this] { run(); }).detach();
      Started = true;
    }
  }

  void wake() {
    Generation.fetch_add(1, std::memory_order_release);
    signalEvents().notify();
  }

  void run() {
    while (!Stopped) {
      const uint32_t generation = Generation.load(std::memory_order_acquire);
      if (runFunctions() || runHandlers())
        continue;
      signalEvents().wait(
          [&] {
            if (Generation.load(std::memory_order_acquire) != generation)
              return true;
            std::lock_guard lock(Mutex);
            for (const Handler &h : Handlers)
              if (h.isReady())
                return true;
            return false;
          },
          kForever, kSignalPollNs);
    }
  }

  bool runFunctions() {
    std::deque<std::function<void()>> functions;
    {
      std::lock_guard lock(Mutex);
      functions.swap(Functions);
    }
    for (auto &f : functions)
      f();
    return !functions.empty();
  }

  /// Each ready handler is taken off the list while it runs: it may destroy its own signal, or register anew.
  bool runHandlers() {
    std::vector<Handler> ready;
    {
      std::lock_guard lock(Mutex);
      std::erase_if(Handlers, [&](const Handler &h) {
        if (!h.isReady())
          return false;
        ready.push_back(h);
        return true;
      });
    }
    for (const Handler &h : ready) {
      if (Stopped)
        return false;
      if (h.function(signalValue(h.signal), h.argument)) {
        std::lock_guard lock(Mutex);
        Handlers.push_back(h);
      }
    }
    return !ready.empty();
  }

  std::mutex Mutex;
  std::vector<Handler> Handlers;
  std::deque<std::function<void()>> Functions;
  bool Started = false;
  std::atomic<bool> Stopped{false};
  std::atomic<uint32_t> Generation{0};
};

HandlerThread &handlerThread() {
  static HandlerThread &thread = *new HandlerThread; // outlives static destructors
  return thread;
}

} // namespace

void addAsyncHandler(hsa_signal_t s, hsa_signal_condition32_t condition, int64_t compare,
                     hsa_amd_signal_handler handler, void *arg) {
  handlerThread().add({s, condition, compare, handler, arg});
}
void removeAsyncHandlers(hsa_signal_t s) { handlerThread().remove(s); }
void callAsync(std::function<void()> function) { handlerThread().call(std::move(function)); }
void stopAsyncHandlers() { handlerThread().stop(); }

} // namespace wavesan::agent
