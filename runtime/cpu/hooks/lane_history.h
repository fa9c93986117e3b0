// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses of one wave that some of its lanes are not ordered behind, and the conflicts between lanes that follow.
#ifndef WAVESAN_CPU_LANE_HISTORY_H
#define WAVESAN_CPU_LANE_HISTORY_H

#include "lane_order.h"

#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace wavesan::cpu {

/// Two lanes of one wave.
struct LaneRace {
  uint64_t address; ///< of the first byte that both touch
  uint32_t size;    ///< bytes from there on
  uint32_t previousSite;
  uint8_t previousLane, lane;
  bool previousWrites, previousAtomic;
};

/// Used by one thread at a time. Bounded: beyond kMaxRecords nothing is remembered until all is known to all.
class LaneHistory {
public:
  struct What {
    uint32_t site;
    bool write, atomic;
    bool lds; ///< LDS offsets and addresses of global memory are told apart
  };

  /// One access: lane i of `exec` touches sizeOf(i) bytes from address[i] on. `phaseOf(i)`: of lane i's access. Lanes
  /// of one access do not conflict with one another here: that is a matter of their values (HookHandler::laneClash).
  /// Returns false if it could not be remembered.
  template <class Address, class SizeOf, class PhaseOf, class F>
  bool access(LaneOrder &order, uint64_t exec, const Address *address, SizeOf sizeOf, PhaseOf phaseOf, const What &what,
              F &&onRace) {
    if (order.allKnown()) {
      clear();
      order.forget();
    }
    ++Stamp;
    bool kept = true;
    for (uint64_t rest = exec; rest; rest &= rest - 1) {
      const auto lane = uint8_t(std::countr_zero(rest));
      const uint64_t begin = address[lane], end = begin + sizeOf(lane);
      LaneRace pending{};
      const auto flush = [&] {
        if (pending.size != 0)
          onRace(pending);
        pending.size = 0;
      };
      const LaneOrder::Phase phase = phaseOf(lane);
      for (uint64_t at = begin; at < end; at = (at | 3) + 1) {
        const unsigned first = unsigned(at & 3),
                       last = unsigned(end - (at & ~uint64_t(3)) < 4 ? end - (at & ~uint64_t(3)) : 4);
        const auto mask = uint8_t((1u << last) - (1u << first));
        kept &= cell(order, (at >> 2) | (what.lds ? kLdsBit : 0), at & ~uint64_t(3), mask, lane, phase, what, pending,
                     flush);
      }
      flush();
    }
    return kept;
  }
  void clear() {
    if (Records != 0)
      Cells.clear();
    Records = 0;
  }

private:
  static constexpr uint64_t kLdsBit = uint64_t(1) << 63;
  static constexpr size_t kMaxRecords = size_t(1) << 20;
  struct Record {
    LaneOrder::Phase phase;
    uint32_t site, stamp;
    uint8_t lane, mask;
    bool write, atomic;
  };

  template <class Flush>
  bool cell(LaneOrder &order, uint64_t key, uint64_t base, uint8_t mask, uint8_t lane, LaneOrder::Phase phase,
            const What &what, LaneRace &pending, Flush &flush) {
    std::vector<Record> &records = Cells[key];
    for (size_t i = 0; i < records.size();) {
      Record &r = records[i];
      const LaneOrder::Lanes unknown = order.unknownTo(r.phase);
      const auto common = uint8_t(r.mask & mask);
      if (common && r.stamp != Stamp && (unknown >> lane & 1) && (r.write || what.write) &&
          !(r.atomic && what.atomic)) {
        const auto byte = unsigned(std::countr_zero(common));
        const auto size = unsigned(std::countr_one(uint8_t(common >> byte)));
        if (pending.size != 0 && pending.address + pending.size == base + byte && pending.previousSite == r.site &&
            pending.previousLane == r.lane)
          pending.size += size;
        else {
          flush();
          pending = {base + byte, size, r.site, r.lane, lane, r.write, r.atomic};
        }
      }
      // A later access of the lane stands for an earlier one: who does not know the earlier one does not know it
      // either.
      const bool covered = r.lane == lane && r.stamp != Stamp && (r.mask & ~mask) == 0 && (what.write || !r.write) &&
                           (!what.atomic || r.atomic);
      if (covered || unknown == 0) {
        r = records.back();
        records.pop_back();
        --Records;
        continue;
      }
      ++i;
    }
    if (order.unknownTo(phase) == 0)
      return true;
    if (Records >= kMaxRecords)
      return false;
    records.push_back({phase, what.site, Stamp, lane, mask, what.write, what.atomic});
    ++Records;
    return true;
  }
  std::unordered_map<uint64_t, std::vector<Record>> Cells; ///< by dword
  size_t Records = 0;
  uint32_t Stamp = 0; ///< of the access
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_LANE_HISTORY_H
