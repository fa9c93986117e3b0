// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether stores that race write what is in memory already. A remark on the report and no verdict: in another order, or
// with another input, the values may differ.
#ifndef WAVESAN_CPU_STORED_VALUES_H
#define WAVESAN_CPU_STORED_VALUES_H

#include "wavesan/abi/dispatch.h"

#include <algorithm>
#include <vector>

namespace wavesan::cpu {

/// Conflicts of one workgroup that were reported by the access hook of a store which is about to be executed.
///
/// A conflict counts as one of different values until its store says otherwise: so those of which nobody learns the
/// value (memcpy, memset) do.
class StoredValues {
public:
  bool asked() const { return !Conflicts.empty(); }

  /// Call behind each report of a conflict of plain stores. `record`: in the race table, kSideValueHeld when it is new.
  void reported(abi::RaceRecord &record, const abi::RaceRecord &conflict) {
    auto known = std::find_if(Records.begin(), Records.end(), [&](const Record &r) { return r.record == &record; });
    if (known == Records.end())
      known = Records.insert(known, {&record, (record.current.access & abi::kSideValueHeld) != 0});
    record.current.access &= uint8_t(~abi::kSideValueHeld);
    if (Conflicts.size() == kMost)
      known->held = false;
    else
      Conflicts.push_back({size_t(known - Records.begin()), conflict.address, conflict.size,
                           conflict.space == uint32_t(abi::RaceSpace::Lds)});
  }

  /// The store of a site is next. `holds`(address, size, in LDS): memory has there what it will write.
  template <class Holds> void compare(uint32_t site, Holds holds) {
    if (Records.empty() || Records.front().record->current.site != site)
      return forget();
    for (const Conflict &c : Conflicts)
      if (Record &r = Records[c.record]; r.held)
        r.held = holds(c.address, c.size, c.lds);
    for (const Record &r : Records)
      if (r.held)
        r.record->current.access |= abi::kSideValueHeld;
    forget();
  }

  /// Another access is next.
  void forget() {
    Records.clear();
    Conflicts.clear();
  }

private:
  static constexpr size_t kMost = 1 << 12;
  struct Record {
    abi::RaceRecord *record;
    bool held; ///< by all conflicts so far
  };
  struct Conflict {
    size_t record;
    uint64_t address;
    uint32_t size;
    bool lds;
  };
  std::vector<Record> Records;
  std::vector<Conflict> Conflicts;
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_STORED_VALUES_H
