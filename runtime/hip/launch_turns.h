// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls about graphs exclude one another and launches of kernels. HIP's documentation has all of them thread-safe;
// HIP 5.2.3 makes the commands of a graph without the lock that it takes for a launch, so that two threads which use
// the same kernel can get each other's arguments.
#ifndef WAVESAN_HIP_LAUNCH_TURNS_H
#define WAVESAN_HIP_LAUNCH_TURNS_H

#include <atomic>

namespace wavesan::hip {

/// Lives around a call of HIP about graphs (`Graph`), or that launches a kernel. Nested ones of one thread do nothing.
/// A launch of a graph may wait for a host function, which may wait for anything: after two seconds a thread goes on
/// without its turn.
class LaunchTurn {
public:
  enum Kind { Graph, Kernel };
  explicit LaunchTurn(Kind kind) {
    if (kind == Graph || GraphsUsed.load(std::memory_order_relaxed))
      take(kind);
  }
  ~LaunchTurn() {
    if (Outermost)
      giveBack();
  }
  LaunchTurn(const LaunchTurn &) = delete;
  LaunchTurn &operator=(const LaunchTurn &) = delete;

private:
  void take(Kind kind);
  void giveBack();

  static inline std::atomic<bool> GraphsUsed{false}; ///< else launches need no turns
  enum { Nothing, Shared, Exclusive } Held = Nothing;
  bool Outermost = false;
};

} // namespace wavesan::hip

#endif // WAVESAN_HIP_LAUNCH_TURNS_H
