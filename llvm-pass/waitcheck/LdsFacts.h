// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which bytes of LDS copies into LDS write and LDS reads read, as far as that can be proven.
//
// Multi-buffered kernels leave the copy into the next buffer pending while they read this one. Whether the two meet
// depends on M0 (or, gfx1250, on a vector register) at the copy and on the address register at the read. So intervals
// of register values are followed through constants, shifts, masks, sums and lane numbers, over all paths; besides, the
// value in lane 0 where it is exact. What is not known is any value: then copy and read may meet.
#ifndef WAVESAN_WAITCHECK_LDSFACTS_H
#define WAVESAN_WAITCHECK_LDSFACTS_H

#include "PendingState.h"

#include <map>
#include <memory>

namespace wavesan::waitcheck {

struct Function;

/// Bytes [first, end) of LDS, relative to the workgroup's.
struct LdsRange {
  int64_t first = 0, end = 0;
  bool known = false;      ///< all lanes of all executions stay inside
  bool lane0Known = false; ///< lane 0 accesses exactly these bytes
  int64_t lane0First = 0, lane0End = 0;
  bool operator==(const LdsRange &) const = default;
};

/// Of one function. Not thread-safe: answers about barriers are kept.
class LdsFacts {
public:
  /// Null if the function copies nothing into LDS.
  static std::shared_ptr<const LdsFacts> of(const IsaContext &isa, const Function &f);

  /// The slot of the item that the copy leaves: equal ranges share one. memorySlot if the range is not known.
  uint16_t copySlot(uint32_t instruction) const;
  /// True if such a copy writes nothing that the LDS read at `instruction` reads.
  bool apart(uint16_t copySlot, uint32_t instruction) const;
  /// True if it certainly writes something that is read there.
  bool certainlyMeets(uint16_t copySlot, uint32_t instruction) const;
  /// True if nothing that is read between this barrier and the next one, by any wave, is written by such a copy.
  /// `f`: the function that this was made of.
  bool notReadBehind(const Function &f, uint16_t copySlot, uint32_t barrier) const;

private:
  friend class LdsFactsBuilder;
  explicit LdsFacts(const IsaContext &isa) : isa(isa) {}
  /// What is read between a barrier and the next one.
  struct Behind {
    bool unknown = false;
    std::vector<uint32_t> reads;
  };
  void findMeetings(const Function &f) const;
  Behind readsBehind(const Function &f, uint32_t barrier) const;

  const IsaContext &isa;
  std::vector<LdsRange> copies;       ///< by slot - firstCopySlot
  std::map<uint32_t, uint16_t> slots; ///< by copy
  std::map<uint32_t, LdsRange> reads; ///< by read; only those with a known range
  mutable std::map<uint32_t, Behind> behind;
  mutable std::map<uint32_t, std::vector<uint32_t>>
      meeting; ///< by barrier: those at which other waves may be meanwhile
  mutable bool meetingsKnown = false;
};

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_LDSFACTS_H
