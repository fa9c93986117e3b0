// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The SIGSEGV and SIGBUS handler: says which kernel or copy touched memory that is not there before the process dies
// of it, as it does on a GPU; and lets writes wait while pages move (page_share.h). Every other fault goes to the
// handler that was there before.
#ifndef WAVESAN_CPU_AGENT_FAULT_HANDLER_H
#define WAVESAN_CPU_AGENT_FAULT_HANDLER_H

#include <cstddef>

namespace wavesan::agent {

/// Installs the handler unless it is installed. It stays: a thread may be on its way into it at any time. Thread-safe.
void installFaultHandler();

/// While it lives, a fault of this thread is told as the doing of `what` ("kernel foo"), which must outlive it.
class FaultScope {
public:
  explicit FaultScope(const char *what);
  ~FaultScope();
  FaultScope(const FaultScope &) = delete;
  FaultScope &operator=(const FaultScope &) = delete;

private:
  const char *Outer;
};

/// From now on a fault inside of a FaultScope stops its thread instead of the process: the program has been torn down,
/// and its memory may be gone before the last copy or kernel that was never waited for.
void stopThreadsThatFault();
/// True if that has happened.
bool hasThreadStopped();

/// While it lives, writes to write-protected pages in [begin, begin + bytes) wait; then they are repeated. One at a
/// time in the process.
class MovingPages {
public:
  MovingPages(const void *begin, size_t bytes);
  ~MovingPages();
  MovingPages(const MovingPages &) = delete;
  MovingPages &operator=(const MovingPages &) = delete;
};

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_FAULT_HANDLER_H
