// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ValueRanges.h"

#include <queue>

namespace wavesan::waitcheck {
namespace {

using llvm::StringRef;

/// Visits of a block after which intervals no longer grow step by step.
constexpr unsigned visitsBeforeWidening = 4;

enum class Operation : uint8_t {
  None,
  Move,
  Add,
  Add3,
  ShiftLeft,         ///< a << b
  ShiftLeftReversed, ///< b << a
  ShiftRight,
  ShiftRightReversed,
  And,
  Or, ///< or, exclusive or
  Multiply,
  Multiply24,
  ShiftLeftAdd, ///< (a << b) + c
  AddShiftLeft, ///< (a + b) << c
  ShiftLeftOr,
  AndOr,
  MultiplyAdd24,
  BitField,  ///< (a >> b) & mask(c)
  LaneCount, ///< b + the number of mask bits below the lane
  FirstLane,
};

Operation operationOf(StringRef stem) {
  struct Row {
    const char *name;
    Operation operation;
  };
  static constexpr Row rows[] = {
      {"S_MOV_B32", Operation::Move},
      {"S_MOVK_I32", Operation::Move},
      {"V_MOV_B32_e32", Operation::Move},
      {"V_MOV_B32_e64", Operation::Move},
      {"S_ADD_U32", Operation::Add},
      {"S_ADD_I32", Operation::Add},
      {"S_ADD_CO_U32", Operation::Add},
      {"S_ADD_CO_I32", Operation::Add},
      {"V_ADD_U32_e32", Operation::Add},
      {"V_ADD_U32_e64", Operation::Add},
      {"V_ADD_NC_U32_e32", Operation::Add},
      {"V_ADD_NC_U32_e64", Operation::Add},
      {"V_ADD3_U32_e64", Operation::Add3},
      {"S_LSHL_B32", Operation::ShiftLeft},
      {"V_LSHLREV_B32_e32", Operation::ShiftLeftReversed},
      {"V_LSHLREV_B32_e64", Operation::ShiftLeftReversed},
      {"S_LSHR_B32", Operation::ShiftRight},
      {"V_LSHRREV_B32_e32", Operation::ShiftRightReversed},
      {"V_LSHRREV_B32_e64", Operation::ShiftRightReversed},
      {"S_AND_B32", Operation::And},
      {"V_AND_B32_e32", Operation::And},
      {"V_AND_B32_e64", Operation::And},
      {"S_OR_B32", Operation::Or},
      {"S_XOR_B32", Operation::Or},
      {"V_OR_B32_e32", Operation::Or},
      {"V_OR_B32_e64", Operation::Or},
      {"V_XOR_B32_e32", Operation::Or},
      {"V_XOR_B32_e64", Operation::Or},
      {"S_MUL_I32", Operation::Multiply},
      {"V_MUL_LO_U32_e64", Operation::Multiply},
      {"V_MUL_U32_U24_e32", Operation::Multiply24},
      {"V_MUL_U32_U24_e64", Operation::Multiply24},
      {"V_LSHL_ADD_U32_e64", Operation::ShiftLeftAdd},
      {"V_ADD_LSHL_U32_e64", Operation::AddShiftLeft},
      {"V_LSHL_OR_B32_e64", Operation::ShiftLeftOr},
      {"V_AND_OR_B32_e64", Operation::AndOr},
      {"V_MAD_U32_U24_e64", Operation::MultiplyAdd24},
      {"V_BFE_U32_e64", Operation::BitField},
      {"V_MBCNT_LO_U32_B32_e32", Operation::LaneCount},
      {"V_MBCNT_LO_U32_B32_e64", Operation::LaneCount},
      {"V_MBCNT_HI_U32_B32_e32", Operation::LaneCount},
      {"V_MBCNT_HI_U32_B32_e64", Operation::LaneCount},
      {"V_READFIRSTLANE_B32", Operation::FirstLane},
      {"V_READFIRSTLANE_B32_e32", Operation::FirstLane},
      {"V_READFIRSTLANE_B32_e64", Operation::FirstLane},
  };
  for (const Row &r : rows)
    if (stem == r.name)
      return r.operation;
  return Operation::None;
}

/// From the ends of an interval computed in 64 bits; any value if it does not fit.
ValueRange between(uint64_t low, uint64_t high, std::optional<uint32_t> lane0) {
  ValueRange r;
  r.lane0 = lane0;
  if (high <= 0xffffffffu) {
    r.low = static_cast<uint32_t>(low);
    r.high = static_cast<uint32_t>(high);
  }
  return r;
}

template <class F> std::optional<uint32_t> both(const ValueRange &a, const ValueRange &b, F f) {
  return a.lane0 && b.lane0 ? std::optional<uint32_t>(f(*a.lane0, *b.lane0)) : std::nullopt;
}

ValueRange add(const ValueRange &a, const ValueRange &b) {
  return between(uint64_t(a.low) + b.low, uint64_t(a.high) + b.high,
                 both(a, b, [](uint32_t x, uint32_t y) { return x + y; }));
}

ValueRange shiftLeft(const ValueRange &a, const ValueRange &by) {
  const auto lane0 = both(a, by, [](uint32_t x, uint32_t y) { return x << (y & 31); });
  if (by.high > 31)
    return {0, ~0u, lane0};
  return between(uint64_t(a.low) << by.low, uint64_t(a.high) << by.high, lane0);
}

ValueRange shiftRight(const ValueRange &a, const ValueRange &by) {
  const auto lane0 = both(a, by, [](uint32_t x, uint32_t y) { return x >> (y & 31); });
  if (by.high > 31)
    return {0, a.high, lane0};
  return {a.low >> by.high, a.high >> by.low, lane0};
}

ValueRange bitAnd(const ValueRange &a, const ValueRange &b) {
  return {0, std::min(a.high, b.high), both(a, b, [](uint32_t x, uint32_t y) { return x & y; })};
}

/// Or, and exclusive or: no bit above the highest of either.
ValueRange bitOr(const ValueRange &a, const ValueRange &b, bool exclusive) {
  uint32_t all = a.high | b.high;
  for (unsigned s = 1; s < 32; s *= 2)
    all |= all >> s;
  return {exclusive ? 0 : std::max(a.low, b.low), all,
          both(a, b, [&](uint32_t x, uint32_t y) { return exclusive ? x ^ y : x | y; })};
}

ValueRange multiply(const ValueRange &a, const ValueRange &b) {
  return between(uint64_t(a.low) * b.low, uint64_t(a.high) * b.high,
                 both(a, b, [](uint32_t x, uint32_t y) { return x * y; }));
}

/// The low 24 bits of both are what is multiplied.
ValueRange multiply24(const ValueRange &a, const ValueRange &b) {
  if (a.high >> 24 || b.high >> 24)
    return {};
  return multiply(a, b);
}

/// `allOfLowHalf`: there are lanes for which all 32 lanes of the low half lie below.
ValueRange compute(Operation operation, StringRef stem, llvm::ArrayRef<ValueRange> in, bool allOfLowHalf) {
  auto arg = [&](unsigned i) { return i < in.size() ? in[i] : ValueRange(); };
  const ValueRange a = arg(0), b = arg(1), c = arg(2);
  switch (operation) {
  case Operation::Move:
    return a;
  case Operation::Add:
    return add(a, b);
  case Operation::Add3:
    return add(add(a, b), c);
  case Operation::ShiftLeft:
    return shiftLeft(a, b);
  case Operation::ShiftLeftReversed:
    return shiftLeft(b, a);
  case Operation::ShiftRight:
    return shiftRight(a, b);
  case Operation::ShiftRightReversed:
    return shiftRight(b, a);
  case Operation::And:
    return bitAnd(a, b);
  case Operation::Or:
    return bitOr(a, b, stem.contains("XOR"));
  case Operation::Multiply:
    return multiply(a, b);
  case Operation::Multiply24:
    return multiply24(a, b);
  case Operation::ShiftLeftAdd:
    return add(shiftLeft(a, b), c);
  case Operation::AddShiftLeft:
    return shiftLeft(add(a, b), c);
  case Operation::ShiftLeftOr:
    return bitOr(shiftLeft(a, b), c, false);
  case Operation::AndOr:
    return bitOr(bitAnd(a, b), c, false);
  case Operation::MultiplyAdd24:
    return add(multiply24(a, b), c);
  case Operation::BitField: {
    if (c.low != c.high)
      return {};
    const unsigned width = c.low & 31;
    return bitAnd(shiftRight(a, b), ValueRange::exactly((1u << width) - 1));
  }
  case Operation::LaneCount: // no lane lies below lane 0, and the last lane of the half that is counted in does not
                             // count itself
    return between(b.low, uint64_t(b.high) + (allOfLowHalf && stem.contains("_LO_") ? 32 : 31), b.lane0);
  case Operation::FirstLane:
  case Operation::None:
    break;
  }
  return {};
}

} // namespace

ValueRanges::ValueRanges(const IsaContext &isa, const FunctionEntry &entry)
    : isa(isa), m0(isa.slotOf("m0")), execFull(entry.isKernel) {
  // Elsewhere the three work-item ids share v0.
  if (entry.isKernel && !isa.generation().packedWorkItemIds)
    known[isa.slotOf("v0")] = {0, 1023, std::nullopt};
}

ValueRange ValueRanges::of(const PlainOperand &operand) const {
  if (operand.kind == PlainOperand::Kind::Immediate)
    return ValueRange::exactly(static_cast<uint32_t>(operand.imm));
  if (operand.kind == PlainOperand::Kind::Register && operand.registers == 1)
    return at(operand.slot);
  return {};
}

void ValueRanges::set(uint16_t slot, const ValueRange &value) {
  if (value.isAny())
    known.erase(slot);
  else
    known[slot] = value;
}

void ValueRanges::step(const Decoded &d, llvm::ArrayRef<uint8_t> bytes, bool final) {
  if (d.facts.control == Control::Call || d.facts.control == Control::Unsupported) {
    known.clear(); // the callee may write anything
    execFull = false;
    return;
  }
  if (d.facts.relativeDefs) {
    std::erase_if(known, [&](const auto &v) { return isa.isVector(v.first) == d.facts.valu; }); // any of them
    return;
  }
  if (d.numDefs == 0)
    return;
  Operands operands;
  isa.operands(d, bytes.data(), operands);
  const Operation operation = final && !d.wide && !d.facts.relativeUses && d.numEffects == 0
                                  ? operationOf(isa.opcodeStem(d.opcode))
                                  : Operation::None;
  PlainInstruction p;
  const bool understood = operation != Operation::None && isa.plain(bytes, p) && p.numDefs == 1 &&
                          !p.operands.empty() && p.operands[0].kind == PlainOperand::Kind::Register &&
                          p.operands[0].registers == 1;
  ValueRange result;
  if (understood) {
    llvm::SmallVector<ValueRange, 4> in;
    for (const PlainOperand &o : llvm::ArrayRef<PlainOperand>(p.operands).drop_front())
      in.push_back(of(o));
    result = compute(operation, p.stem, in, isa.isWave64());
    if (operation == Operation::FirstLane && !in.empty()) {
      result = in[0];
      if (execFull && result.lane0)
        result = ValueRange::exactly(*result.lane0);
      else
        result.lane0.reset();
    }
    // A scalar is the same in all lanes.
    if (!isa.isVector(p.operands[0].slot) && result.low == result.high)
      result.lane0 = result.low;
  }
  // Lanes that are off keep what they had.
  if (understood && isa.isVector(p.operands[0].slot) && !execFull)
    result = result.joined(at(p.operands[0].slot));
  for (RegRef r : operands.defs()) {
    known.erase(r.slot);
    if (isa.isExec(r.slot)) {
      PlainInstruction whole;
      const StringRef stem = isa.opcodeStem(d.opcode);
      execFull = stem == (isa.isWave64() ? "S_MOV_B64" : "S_MOV_B32") && isa.plain(bytes, whole) &&
                 whole.operands.size() == 2 && whole.operands[1].kind == PlainOperand::Kind::Immediate &&
                 whole.operands[1].imm == -1;
    }
  }
  if (understood)
    set(p.operands[0].slot, result);
}

bool ValueRanges::join(const ValueRanges &other, bool widen) {
  bool changed = false;
  if (execFull && !other.execFull) {
    execFull = false;
    changed = true;
  }
  for (auto it = known.begin(); it != known.end();) {
    const ValueRange theirs = other.at(it->first);
    ValueRange mine = it->second.joined(theirs);
    if (mine == it->second) {
      ++it;
      continue;
    }
    changed = true;
    if (widen || mine.isAny()) {
      it = known.erase(it);
    } else {
      it->second = mine;
      ++it;
    }
  }
  return changed;
}

void visitValues(const IsaContext &isa, const Function &f,
                 llvm::function_ref<void(uint32_t, const ValueRanges &)> visit) {
  if (f.blocks.empty())
    return;
  std::vector<std::optional<ValueRanges>> entry(f.blocks.size());
  std::vector<unsigned> visits(f.blocks.size(), 0);
  std::vector<uint8_t> queued(f.blocks.size(), 0);
  std::vector<uint32_t> rank(f.blocks.size(), 0);
  for (uint32_t r = 0; r < f.order.size(); ++r)
    rank[f.order[r]] = r;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<uint32_t>> work;
  entry[0].emplace(isa, f.entry);
  work.push(rank[0]);
  queued[0] = 1;
  auto run = [&](ValueRanges &values, const Block &block, bool last) {
    for (uint32_t i = block.first; i < block.last; ++i) {
      if (f.code[i].decoded < 0)
        continue;
      if (last)
        visit(i, values);
      const Decoded &d = isa.decoded(f.code[i].decoded);
      values.step(d, f.bytesAt(i), !f.isRelocated(i, d.size));
    }
  };
  while (!work.empty()) {
    const uint32_t b = f.order[work.top()];
    work.pop();
    queued[b] = 0;
    ++visits[b];
    ValueRanges values = *entry[b];
    run(values, f.blocks[b], false);
    for (uint32_t next : f.blocks[b].successors) {
      bool changed = !entry[next];
      if (changed)
        entry[next].emplace(values);
      else
        changed = entry[next]->join(values, visits[next] >= visitsBeforeWidening);
      if (changed && !queued[next]) {
        queued[next] = 1;
        work.push(rank[next]);
      }
    }
  }
  for (uint32_t b : f.order) {
    ValueRanges values = *entry[b];
    run(values, f.blocks[b], true);
  }
}

} // namespace wavesan::waitcheck
