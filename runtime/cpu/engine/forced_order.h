// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Brings two accesses of different waves into one order, and nothing else.
//
// The wave that is to be second is held in front of its access until the other one has made its own. Between waves of
// one workgroup that is asked anew behind each barrier, because the accesses of a loop race within a round; the second
// is let go when the first waits at the barrier or has ended. Between workgroups once: the first access counts. What
// waves do otherwise is up to the scheduler, as without this.
#ifndef WAVESAN_CPU_ENGINE_FORCED_ORDER_H
#define WAVESAN_CPU_ENGINE_FORCED_ORDER_H

#include "engine.h"

#include <algorithm>

namespace wavesan::cpu::engine {

struct Workgroup;
struct Wave;

/// Of one launch, which one thread executes.
class OrderForcer {
public:
  /// What waiting costs of a wave's turn, so that other workgroups get theirs.
  static constexpr int32_t kCost = 64;

  void begin(const ForcedOrder *order) { Order = order; }
  bool active() const { return Order != nullptr; }
  /// The second access was made behind the first, once or more.
  bool made() const { return Made; }
  /// The wave is about to access at `site`. True: not now; it must come back. `touches(order)`: whether the access
  /// touches ForcedOrder's bytes.
  template <class Touches> bool holds(const Workgroup &group, const Wave &wave, uint32_t site, Touches touches) {
    return holdsAt(group, wave, site, [&] {
      const bool asked = site == Order->first.site || site == Order->second.site;
      return asked && (Order->bytes == 0 || touches(*Order));
    }());
  }
  /// Those of the runnable waves that may run now. None: the workgroup must wait for another one.
  uint64_t eligible(const Workgroup &group, uint64_t runnable) {
    return Order && Order->preference != ForcedOrder::Preference::None ? preferred(group, runnable) : runnable;
  }
  void ended(const Workgroup &group, const Wave &wave) {
    if (!Order)
      return;
    FirstEnded |= is(Order->first, group, wave);
    SecondEnded |= is(Order->second, group, wave);
  }

private:
  /// `concerned`: it is an access of one of the sites, to the bytes that matter.
  bool holdsAt(const Workgroup &group, const Wave &wave, uint32_t site, bool concerned);
  bool mustWait(const Workgroup &group) const;
  /// Less than what a workgroup may do without progress (stuck_check.h).
  static constexpr uint32_t kMaxHolds = 20'000;
  uint64_t preferred(const Workgroup &group, uint64_t runnable);
  bool released(const Workgroup &group) const;
  static bool is(const ForcedOrder::Side &side, const Workgroup &group, const Wave &wave);

  const ForcedOrder *Order = nullptr;
  bool FirstSeen = false, FirstEnded = false, SecondEnded = false;
  bool SecondHeld = false; ///< it was when it last wanted to go on
  bool Made = false;
  uint64_t FirstPhase = 0; ///< Workgroup::barrierPhase of the first's latest access
  uint32_t Holds = 0, Waits = 0;
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_FORCED_ORDER_H
