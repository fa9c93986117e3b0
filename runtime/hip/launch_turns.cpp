// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch_turns.h"

#include <chrono>
#include <shared_mutex>

namespace wavesan::hip {

namespace {

constexpr std::chrono::seconds kPatience(2);

/// Never destroyed: calls may come until the end.
std::shared_timed_mutex &turns() {
  static auto *const mutex = new std::shared_timed_mutex;
  return *mutex;
}
thread_local bool inTurn = false;

} // namespace

void LaunchTurn::take(Kind kind) {
  if (inTurn)
    return;
  Outermost = inTurn = true;
  if (kind == Graph) {
    GraphsUsed.store(true, std::memory_order_relaxed);
    if (turns().try_lock_for(kPatience))
      Held = Exclusive;
  } else if (turns().try_lock_shared_for(kPatience)) {
    Held = Shared;
  }
}

void LaunchTurn::giveBack() {
  if (Held == Exclusive)
    turns().unlock();
  else if (Held == Shared)
    turns().unlock_shared();
  inTurn = false;
}

} // namespace wavesan::hip
