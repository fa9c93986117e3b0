// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns a race record of the device into a report.
#ifndef WAVESAN_HSA_RACE_BUILDER_H
#define WAVESAN_HSA_RACE_BUILDER_H

#include "kernel_table.h"
#include "memory_map.h"

#include "wavesan/abi/dispatch.h"
#include "wavesan/report/race.h"

#include <optional>
#include <string>

namespace wavesan::hsa {

/// Identity of a distinct race: kernel, class, memory and the unordered pair of source positions with their inlining
/// chains.
struct RaceKey {
  std::string text;
  bool swapped = false; ///< the two sides stand in `text` in the other order
};

/// True if `record` can have been written by a twin of `kernel`: finished, sites and lanes in range. The record
/// comes from memory that a faulty program may have overwritten.
bool isPlausible(const abi::RaceRecord &record, const Kernel &kernel);

/// Only for plausible records: true for a divergence by sites alone (DivergenceDetail::bySite) whose sites, by their
/// source positions, are none.
bool isInOrder(const abi::RaceRecord &record, const Kernel &kernel);

/// Only for plausible records.
report::Race buildRace(const abi::RaceRecord &record, const Kernel &kernel, uint64_t dispatch, const MemoryMap &memory);

/// Only for plausible records: two stores that are known to write the same to every byte that both write.
bool writesSameValue(const abi::RaceRecord &record, const Kernel &kernel);

RaceKey raceIdentity(const abi::RaceRecord &record, const Kernel &kernel);

/// The two sides belong to different workgroups.
bool isBetweenWorkgroups(const abi::RaceRecord &record);

/// Order of records that does not depend on where they stand in the table.
bool recordBefore(const abi::RaceRecord &a, const abi::RaceRecord &b);

/// The access of a site, without who made it.
report::Access siteAccess(const abi::SiteTableView &sites, uint32_t site);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_RACE_BUILDER_H
