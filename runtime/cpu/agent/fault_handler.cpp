// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that the handler calls is async-signal-safe, or takes a lock only if nobody holds it.
#include "fault_handler.h"

#include "memory.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

namespace wavesan::agent {
namespace {

// The range that is being moved, or was moved last: a thread may enter the handler just after a move has ended.
std::atomic<uintptr_t> RangeBegin{0}, RangeEnd{0};
std::atomic<bool> Moving{false};

// initial-exec: reading it in a signal handler must not allocate.
[[gnu::tls_model("initial-exec")]] thread_local const char *CurrentActivity = nullptr;

std::atomic<bool> StopThreads{false}, ThreadStopped{false};

/// Who was asked before. Published before the handler is installed: it runs on whatever thread faults.
std::atomic<const struct sigaction *> PreviousSegv{nullptr}, PreviousBus{nullptr};

void say(const char *activity, uintptr_t address) {
  char text[512];
  int n = std::snprintf(text, sizeof(text), "wavesan: %s touched address 0x%llx, which it may not", activity,
                        static_cast<unsigned long long>(address));
  const std::optional<AllocationNeighbour> neighbour =
      allocations().tryFindNeighbour(reinterpret_cast<void *>(address));
  if (neighbour && n > 0 && size_t(n) < sizeof(text))
    n += std::snprintf(text + n, sizeof(text) - size_t(n), " (%zu bytes behind the end of an allocation of %zu bytes)",
                       neighbour->distance, neighbour->size);
  if (n < 0 || size_t(n) >= sizeof(text) - 1)
    return;
  text[n++] = '\n';
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, size_t(n));
}

void onFault(int signal, siginfo_t *info, void *context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (signal == SIGSEGV && info->si_code == SEGV_ACCERR && address >= RangeBegin && address < RangeEnd) {
    while (Moving)
      sched_yield();
    return;
  }
  const bool sent = info->si_code <= 0; // by kill() or raise(): nothing has faulted, and it will not be repeated
  if (const char *activity = sent ? nullptr : CurrentActivity) {
    CurrentActivity = nullptr; // a fault in say() is not told
    say(activity, address);
    if (StopThreads) {
      ThreadStopped = true;
      for (;;)
        pause();
    }
  }
  const struct sigaction &previous = *(signal == SIGBUS ? PreviousBus : PreviousSegv).load(std::memory_order_acquire);
  if (previous.sa_flags & SA_SIGINFO)
    previous.sa_sigaction(signal, info, context);
  else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
    previous.sa_handler(signal);
  else if (!sent || previous.sa_handler != SIG_IGN) {
    sigaction(signal, &previous, nullptr); // the repeated fault ends the process as it would have
    if (sent)
      raise(signal);
  }
}

void install(int signal, std::atomic<const struct sigaction *> &previous) {
  struct sigaction current;
  if (sigaction(signal, nullptr, &current) != 0 || ((current.sa_flags & SA_SIGINFO) && current.sa_sigaction == onFault))
    return;
  previous.store(new struct sigaction(current), std::memory_order_release); // for ever: once in a process
  struct sigaction action{};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | (current.sa_flags & SA_ONSTACK);
  sigaction(signal, &action, nullptr);
}

} // namespace

void installFaultHandler() {
  static std::mutex &mutex = *new std::mutex;
  // Once only: if the program has put its own handler over this one since, that one decides whom to call.
  static bool installed = false;
  std::lock_guard lock(mutex);
  if (installed)
    return;
  installed = true;
  install(SIGSEGV, PreviousSegv);
  install(SIGBUS, PreviousBus);
}

void stopThreadsThatFault() { StopThreads = true; }
bool hasThreadStopped() { return ThreadStopped; }

FaultScope::FaultScope(const char *what) : Outer(CurrentActivity) {
  installFaultHandler();
  CurrentActivity = what;
}
FaultScope::~FaultScope() { CurrentActivity = Outer; }

MovingPages::MovingPages(const void *begin, size_t bytes) {
  installFaultHandler();
  RangeBegin = reinterpret_cast<uintptr_t>(begin);
  RangeEnd = reinterpret_cast<uintptr_t>(begin) + bytes;
  Moving = true;
}
MovingPages::~MovingPages() { Moving = false; }

} // namespace wavesan::agent
