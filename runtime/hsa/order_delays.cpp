// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "order_delays.h"

#include <algorithm>

namespace wavesan::hsa {

namespace {

// In sleeps, each of which takes about a microsecond on a GPU. An access that is about to be made is made long before
// the shortest time to settle is over; who is late must be later than one that settles. All together a wave sleeps for
// some tens of milliseconds at most.
constexpr uint32_t kSettle = 24, kLagOfSettle = 4, kMost = 1u << 14;

abi::DelayedSide sideOf(const abi::Schedule::Side &from) {
  abi::DelayedSide side{from.site, {}, from.wave};
  std::copy_n(from.workgroup, 3, side.workgroup);
  return side;
}

} // namespace

uint32_t lastSiteOf(const abi::SiteTableView &sites, uint32_t site) {
  if (site + 1 >= sites.siteCount())
    return site;
  const abi::SiteEntry own = sites.site(site), next = sites.site(site + 1);
  const bool ranges = own.kind == uint32_t(abi::SiteKind::Range) && next.kind == own.kind;
  return ranges && own.frame == next.frame && sites.string(own.opcode) == sites.string(next.opcode) &&
                 abi::accessBits(own.info) == abi::kAccessRead && abi::accessBits(next.info) == abi::kAccessWrite
             ? site + 1
             : site;
}

abi::Delays delaysFor(const abi::Schedule &schedule) {
  abi::Delays delays{};
  delays.first = sideOf(schedule.first);
  delays.second = sideOf(schedule.second);
  delays.slowFirst = !schedule.preferFirst;
  delays.seed = uint32_t(schedule.seed ^ schedule.seed >> 32);
  delays.settle = kSettle + (delays.seed * 0x9e3779b1u >> 16) % kSettle;
  delays.lag = kLagOfSettle * delays.settle;
  delays.most = kMost;
  delays.bytes = uint32_t(std::min<uint64_t>(schedule.bytes, ~0u));
  delays.lds = schedule.lds;
  delays.beginLow = uint32_t(schedule.begin);
  delays.beginHigh = uint32_t(schedule.begin >> 32);
  return delays;
}

} // namespace wavesan::hsa
