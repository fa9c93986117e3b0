// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "forced_order.h"

#include "workgroup.h"

namespace wavesan::cpu::engine {

bool OrderForcer::is(const ForcedOrder::Side &side, const Workgroup &group, const Wave &wave) {
  return wave.index == side.wave && std::equal(group.id, group.id + 3, side.workgroup);
}

/// The second wave, in the workgroup of the first, need not wait (any longer).
bool OrderForcer::released(const Workgroup &group) const {
  const WaveState &other = *group.waves[Order->first.wave];
  const bool waits = (other.stop == Stop::Barrier && group.mustWait(other)) || other.atGridBarrier;
  return waits || FirstEnded || Holds >= kMaxHolds || (FirstSeen && FirstPhase >= group.barrierPhase);
}

bool OrderForcer::holdsAt(const Workgroup &group, const Wave &wave, uint32_t site, bool concerned) {
  const ForcedOrder::Side &first = Order->first, &second = Order->second;
  if (concerned && site == first.site && is(first, group, wave)) {
    FirstSeen = true;
    FirstPhase = group.barrierPhase;
    return false;
  }
  if (!is(second, group, wave))
    return false;
  SecondHeld = false;
  if (!concerned || site != second.site)
    return false;
  if (mustWait(group)) {
    ++Holds;
    return SecondHeld = true;
  }
  // Behind the first's latest access, and no barrier of both between them: that would be an order of the program's.
  const bool together = std::equal(first.workgroup, first.workgroup + 3, group.id);
  Made |= FirstSeen && (!together || FirstPhase >= group.barrierPhase);
  return false;
}

/// The second wave is in front of its access.
bool OrderForcer::mustWait(const Workgroup &group) const {
  const ForcedOrder::Side &first = Order->first;
  if (FirstEnded || Holds >= kMaxHolds)
    return false;
  if (std::equal(first.workgroup, first.workgroup + 3, group.id))
    return first.wave < group.waveCount && !released(group);
  return !FirstSeen;
}

uint64_t OrderForcer::preferred(const Workgroup &group, uint64_t runnable) {
  const bool preferFirst = Order->preference == ForcedOrder::Preference::First;
  const ForcedOrder::Side &high = preferFirst ? Order->first : Order->second,
                          &low = preferFirst ? Order->second : Order->first;
  const uint64_t lowBit = low.wave < 64 ? uint64_t(1) << low.wave : 0;
  if (!(runnable & lowBit) || !std::equal(low.workgroup, low.workgroup + 3, group.id))
    return runnable;
  const bool highGone = preferFirst ? FirstEnded : SecondEnded || (SecondHeld && !FirstSeen && !FirstEnded);
  if (highGone)
    return runnable;
  if (Waits >= kMaxHolds) // it may spin for something that the other one does
    return runnable;
  if (std::equal(high.workgroup, high.workgroup + 3, group.id)) {
    const uint64_t highBit = high.wave < 64 ? uint64_t(1) << high.wave : 0;
    const bool held = !preferFirst && SecondHeld && !released(group);
    if (!(runnable & highBit) || held)
      return runnable;
  }
  ++Waits;
  return runnable & ~lowBit;
}

} // namespace wavesan::cpu::engine
