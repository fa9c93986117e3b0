// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intervals of register values, over all paths of a function. For addresses in LDS: LdsFacts.h.
#ifndef WAVESAN_WAITCHECK_VALUERANGES_H
#define WAVESAN_WAITCHECK_VALUERANGES_H

#include "Program.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <optional>

namespace wavesan::waitcheck {

/// Unsigned values of a 32-bit register in all lanes, both ends included.
struct ValueRange {
  uint32_t low = 0, high = ~0u;
  std::optional<uint32_t> lane0; ///< the value in lane 0, where it is always this one

  static ValueRange exactly(uint32_t v) { return {v, v, v}; }
  bool isAny() const { return low == 0 && high == ~0u && !lane0; }
  ValueRange joined(const ValueRange &o) const {
    return {std::min(low, o.low), std::max(high, o.high), lane0 == o.lane0 ? lane0 : std::nullopt};
  }
  bool operator==(const ValueRange &) const = default;
};

/// What is known at one point. Registers that are not in it may hold anything.
class ValueRanges {
public:
  ValueRanges(const IsaContext &isa, const FunctionEntry &entry);

  ValueRange of(const PlainOperand &operand) const;
  ValueRange ofM0() const { return at(m0); }
  /// All lanes that exist are on.
  bool allLanes() const { return execFull; }

  /// `final`: the bytes are final, no relocation changes them.
  void step(const Decoded &d, llvm::ArrayRef<uint8_t> bytes, bool final);
  /// Keeps what holds in both. `widen`: what differs is given up instead of enlarged. True if anything changed.
  bool join(const ValueRanges &other, bool widen);

private:
  ValueRange at(uint16_t slot) const {
    auto v = known.find(slot);
    return v == known.end() ? ValueRange() : v->second;
  }
  void set(uint16_t slot, const ValueRange &value);

  const IsaContext &isa;
  uint16_t m0;
  std::map<uint16_t, ValueRange> known;
  bool execFull;
};

/// Calls `visit` once for every reachable instruction, with what holds before it.
void visitValues(const IsaContext &isa, const Function &f,
                 llvm::function_ref<void(uint32_t, const ValueRanges &)> visit);

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_VALUERANGES_H
