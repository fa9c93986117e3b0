// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "crew.h"

namespace wavesan::cpu::engine {

void Crew::fail(uint64_t id, Outcome outcome) {
  std::lock_guard lock(Mutex);
  if (over())
    return;
  if (!Independent) {
    Result = std::move(outcome);
    Over.store(true, std::memory_order_release);
    return;
  }
  const bool givenUp = outcome.kind == Outcome::Cancelled && Launch.failedAt.load(std::memory_order_relaxed) != kNobody;
  if (givenUp || id >= Launch.failedAt.load(std::memory_order_relaxed))
    return;
  Result = std::move(outcome);
  Launch.failedAt.store(id, std::memory_order_relaxed);
}

void Crew::end(Outcome outcome) {
  std::lock_guard lock(Mutex);
  if (over())
    return;
  if (Launch.failedAt.load(std::memory_order_relaxed) == kNobody)
    Result = std::move(outcome);
  Launch.failedAt.store(0, std::memory_order_relaxed); // gives up all others
  Over.store(true, std::memory_order_release);
}

} // namespace wavesan::cpu::engine
