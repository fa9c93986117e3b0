// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The delays that bring two accesses of a dispatch into one order, under a seed: pure arithmetic.
#ifndef WAVESAN_HSA_ORDER_DELAYS_H
#define WAVESAN_HSA_ORDER_DELAYS_H

#include "wavesan/abi/delays.h"
#include "wavesan/abi/replay.h"
#include "wavesan/abi/site_table.h"

namespace wavesan::hsa {

/// The site that is the last in front of the access of `site`: a copy has two, and the wave must not be late between
/// them and what they stand for.
uint32_t lastSiteOf(const abi::SiteTableView &sites, uint32_t site);

/// `schedule` as the CPU agent would get it. preferFirst: the wave of `first` does everything else early, else late.
abi::Delays delaysFor(const abi::Schedule &schedule);

/// Whether the order came about, once or more, in the dispatch that has left this.
inline bool orderMade(const abi::Delays &delays) { return delays.settled != 0; }

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_ORDER_DELAYS_H
