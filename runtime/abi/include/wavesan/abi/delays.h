// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What brings two accesses of a dispatch into one order where nobody schedules its waves: the device runtime delays
// them (runtime/device/delay.h says how). Freestanding.
#ifndef WAVESAN_ABI_DELAYS_H
#define WAVESAN_ABI_DELAYS_H

#include <stdint.h>

namespace wavesan::abi {

/// One of the two accesses: of which wave, and where.
struct DelayedSide {
  uint32_t site;
  uint32_t workgroup[3];
  uint32_t wave; ///< in its workgroup
};

/// Of one dispatch, in memory of host and device. The host writes what is above the line; waves of the device, with
/// relaxed atomics of device scope, what is below, which begins as 0. Times are numbers of sleeps.
struct Delays {
  DelayedSide first, second; ///< the order; not of one wave
  uint32_t slowFirst;        ///< the wave of `first` does everything else late; 0: that of `second`
  uint32_t seed;             ///< how all others are delayed
  uint32_t settle;           ///< until an access that its wave is about to make has been made
  uint32_t lag;              ///< in front of each other access of the wave that is late
  uint32_t most;             ///< of one wave, for either reason
  /// The bytes that both touch: an access of a site counts only if some lane's overlaps them. 0: each counts.
  uint32_t bytes;
  uint32_t lds; ///< 1: `begin` is a byte offset in LDS; 0: an address of global memory
  uint32_t beginLow, beginHigh;
  // ----
  uint32_t passed;  ///< epoch of the latest access that came first, plus 1
  uint32_t settled; ///< the value of `passed` that has been waited for
  uint32_t holds;   ///< 1 while the second waits for the first
  uint32_t held;    ///< sleeps of the second in front of its access
  uint32_t lagged;  ///< sleeps of the wave that is late in front of others
  uint32_t reserved[8];
};
static_assert(sizeof(Delays) == 128);

} // namespace wavesan::abi

#endif // WAVESAN_ABI_DELAYS_H
