// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The LDS instructions of one wave that waits for counts of them: which are complete behind lgkmcnt(N) or dscnt N.
//
// LDS instructions complete in the order of their issue. If one is under way, so are all that were issued after it, and
// the counter shows more than their number. So a wait for N completes an instruction behind which at least N others
// have been issued. Whatever else the counter counts (scalar loads on gfx6 to gfx11, messages) can only make it larger:
// the argument needs no order among those. A FLAT access may return out of order, and only a wait for zero completes
// it.
//
// How many instructions the compiler makes of an access in the source is not known: it merges and splits them. Only
// inline assembly counts for certain. Where the verdict depends on it, the wait's effect is unknown: counted, no
// report.
#ifndef WAVESAN_CPU_ORDER_LDS_QUEUE_H
#define WAVESAN_CPU_ORDER_LDS_QUEUE_H

#include <cstddef>
#include <cstdint>
#include <deque>

namespace wavesan::cpu {

class LdsQueue {
public:
  enum class Kind {
    One,      ///< an instruction of inline assembly
    Compiled, ///< what the compiler makes of an access
    Flat      ///< through a generic pointer
  };
  struct Waited {
    uint32_t completeBelow; ///< accesses of older generations are complete; 0: none
    uint32_t unknown;       ///< of these, generations that may still be under way
  };

  /// `generation`: of this access alone. `size`: bytes of one lane, 0 for any number.
  void issued(uint32_t generation, Kind kind, uint32_t size) {
    if (kind == Kind::One)
      ++Least, ++Most;
    else if (kind == Kind::Compiled)
      Most += size ? size : kAny; // byte by byte at worst
    Pending.push_back({generation, Least, Most, kind == Kind::Flat});
    // Waits count up to 63. Older accesses may as well complete together, with the youngest of them.
    while (Pending.size() > 1 && (Least - Pending[1].least >= kLargestCount || Pending.size() > kMaxPending)) {
      Pending[1].flat |= Pending[0].flat;
      Pending.pop_front();
    }
  }
  /// More bytes of the instruction issued last, recorded in this generation.
  void continued(uint32_t generation) {
    if (!Pending.empty())
      Pending.back().generation = generation;
  }
  Waited wait(uint32_t count) {
    Waited done{0, 0};
    while (!Pending.empty()) {
      const Access &a = Pending.front();
      if (a.flat || Most - a.most < count)
        break;
      done.unknown += Least - a.least < count;
      done.completeBelow = a.generation + 1;
      Pending.pop_front();
    }
    return done;
  }
  /// All are complete.
  void clear() { Pending.clear(); }

private:
  static constexpr uint64_t kLargestCount = 63, kAny = uint64_t(1) << 20;
  static constexpr size_t kMaxPending = 4096;
  struct Access {
    uint32_t generation;
    uint64_t least, most; ///< instructions up to this one
    bool flat;
  };
  std::deque<Access> Pending;
  uint64_t Least = 0, Most = 0;
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_LDS_QUEUE_H
