// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// EventCount: blocks threads until a condition over lock-free state holds.
//
// Whoever changes the state calls notify() afterwards; it costs one atomic add, and a system call only when somebody
// sleeps. Waiters check the condition between announcing themselves and sleeping, so no wake-up is lost.
#ifndef WAVESAN_CPU_AGENT_EVENT_COUNT_H
#define WAVESAN_CPU_AGENT_EVENT_COUNT_H

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace wavesan::agent {

/// Nanoseconds of the clock that all timestamps of this runtime use.
inline uint64_t nowNs() {
  timespec t;
  while (clock_gettime(CLOCK_MONOTONIC, &t) != 0) // EFAULT: this very page of the stack is moving (page_share.h)
    ;
  return uint64_t(t.tv_sec) * 1'000'000'000u + uint64_t(t.tv_nsec);
}

inline constexpr uint64_t kForever = UINT64_MAX;

class EventCount {
public:
  /// Call after the change that may make a waiter's condition true. Thread-safe.
  void notify() {
    Epoch.fetch_add(1, std::memory_order_seq_cst);
    if (Waiters.load(std::memory_order_seq_cst) != 0)
      syscall(SYS_futex, &Epoch, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }

  /// Returns true once `condition()` holds, false after `timeoutNs`. The condition is also looked at every `pollNs`,
  /// for state that is changed without notify() (a kernel that stores to a signal's value through a pointer).
  template <class Condition> bool wait(Condition condition, uint64_t timeoutNs = kForever, uint64_t pollNs = kForever) {
    for (int i = 0; i < kSpins; ++i) {
      if (condition())
        return true;
      __builtin_ia32_pause();
    }
    const uint64_t start = nowNs();
    const uint64_t end = timeoutNs > kForever - start ? kForever : start + timeoutNs;
    for (;;) {
      Waiters.fetch_add(1, std::memory_order_seq_cst);
      const uint32_t epoch = Epoch.load(std::memory_order_seq_cst);
      if (condition()) {
        Waiters.fetch_sub(1, std::memory_order_relaxed);
        return true;
      }
      const uint64_t now = nowNs();
      if (now >= end) {
        Waiters.fetch_sub(1, std::memory_order_relaxed);
        return false;
      }
      const uint64_t sleep = std::min(end - now, pollNs);
      timespec ts{time_t(sleep / 1'000'000'000u), long(sleep % 1'000'000'000u)};
      const bool forever = end == kForever && pollNs == kForever;
      syscall(SYS_futex, &Epoch, FUTEX_WAIT_PRIVATE, epoch, forever ? nullptr : &ts, nullptr, 0);
      Waiters.fetch_sub(1, std::memory_order_relaxed);
    }
  }

private:
  static constexpr int kSpins = 100;
  std::atomic<uint32_t> Epoch{0};
  std::atomic<uint32_t> Waiters{0};
};

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_EVENT_COUNT_H
