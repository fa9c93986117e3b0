// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BranchFacts.h"

#include <algorithm>
#include <queue>

namespace wavesan::waitcheck {
namespace {

const Decoded *decodedAt(const IsaContext &isa, const Function &f, uint32_t i) {
  return f.code[i].decoded < 0 ? nullptr : &isa.decoded(f.code[i].decoded);
}

/// The outcome of a comparison of two known values; nothing for those whose meaning is not relied on.
std::optional<bool> evaluate(llvm::StringRef compare, uint32_t a, uint32_t b) {
  if (compare.starts_with("S_CMPK_"))
    return std::nullopt; // 16-bit immediates: how they extend is not relied on
  const bool isSigned = compare.ends_with("_I32");
  const int64_t x = isSigned ? int64_t(int32_t(a)) : int64_t(a), y = isSigned ? int64_t(int32_t(b)) : int64_t(b);
  if (compare.contains("_EQ_"))
    return x == y;
  if (compare.contains("_LG_"))
    return x != y;
  if (compare.contains("_GT_"))
    return x > y;
  if (compare.contains("_GE_"))
    return x >= y;
  if (compare.contains("_LT_"))
    return x < y;
  if (compare.contains("_LE_"))
    return x <= y;
  return std::nullopt;
}

} // namespace

std::optional<uint32_t> BranchFacts::value(uint16_t slot, int64_t imm) const {
  if (slot == noSlot)
    return static_cast<uint32_t>(imm);
  for (const Constant &c : constants)
    if (c.slot == slot)
      return c.value;
  return std::nullopt;
}

void BranchFacts::forget(uint16_t slot) {
  std::erase_if(constants, [&](const Constant &c) { return c.slot == slot; });
  std::erase_if(outcomes, [&](const Outcome &o) { return o.a == slot || o.b == slot; });
}

void BranchFacts::step(const IsaContext &isa, const Function &f, uint32_t instruction) {
  const Decoded *decoded = decodedAt(isa, f, instruction);
  if (!decoded)
    return;
  const Decoded &d = *decoded;
  if (d.facts.control == Control::Call || d.facts.control == Control::Unsupported || d.facts.relativeDefs) {
    constants.clear(); // the callee may write anything, so may an index
    outcomes.clear();
    return;
  }
  std::optional<uint32_t> moved;
  if (d.facts.scalar == ScalarForm::Move && d.scalar.valid)
    moved = value(d.scalar.a, d.scalar.immA);
  if (!constants.empty() || !outcomes.empty()) {
    Operands operands;
    isa.operands(d, f.bytesAt(instruction).data(), operands);
    for (RegRef r : operands.defs())
      forget(r.slot);
  }
  if (moved && d.scalar.dest != noSlot) {
    constants.push_back({d.scalar.dest, *moved});
    std::sort(constants.begin(), constants.end());
  }
}

bool BranchFacts::leave(const IsaContext &isa, const Function &f, const Block &b, bool taken) {
  if (b.first == b.last)
    return true;
  const Decoded *branch = decodedAt(isa, f, b.last - 1);
  if (!branch || branch->facts.control != Control::CondBranch || f.gaps.indirectBranches != 0)
    return true;
  const llvm::StringRef name = isa.opcodeStem(branch->opcode);
  if (!name.starts_with("S_CBRANCH_SCC"))
    return true;
  const bool condition = name.starts_with("S_CBRANCH_SCC1") == taken;
  // The comparison: the last instruction of the block that writes the scalar condition. Its operands must be unchanged
  // since.
  const uint16_t scc = isa.sccSlot();
  Operands operands;
  for (uint32_t i = b.last - 1; i-- > b.first;) {
    const Decoded *d = decodedAt(isa, f, i);
    if (!d)
      return true;
    bool writes = false;
    isa.operands(*d, f.bytesAt(i).data(), operands);
    for (RegRef r : operands.defs())
      writes |= r.slot == scc;
    if (!writes)
      continue;
    if (d->facts.scalar != ScalarForm::Compare || !d->scalar.valid)
      return true;
    for (uint32_t k = i + 1; k < b.last - 1; ++k)
      if (const Decoded *later = decodedAt(isa, f, k)) {
        if (later->facts.relativeDefs)
          return true;
        isa.operands(*later, f.bytesAt(k).data(), operands);
        for (RegRef r : operands.defs())
          if (r.slot == d->scalar.a || r.slot == d->scalar.b)
            return true;
      }
    const ScalarOperands &s = d->scalar;
    const llvm::StringRef compare = isa.opcodeStem(d->opcode);
    if (!compare.ends_with("_I32") && !compare.ends_with("_U32"))
      return true; // operands of 64 bits are two registers
    if (auto x = value(s.a, s.immA), y = value(s.b, s.immB); x && y)
      if (auto result = evaluate(compare, *x, *y))
        return *result == condition;
    const Outcome o{d->opcode, s.a, s.b, s.immA, s.immB, condition};
    for (const Outcome &known : outcomes)
      if (known.opcode == o.opcode && known.a == o.a && known.b == o.b && known.immA == o.immA && known.immB == o.immB)
        return known.result == condition;
    outcomes.push_back(o);
    std::sort(outcomes.begin(), outcomes.end());
    return true;
  }
  return true;
}

void BranchFacts::intersect(const BranchFacts &other) {
  std::erase_if(constants, [&](const Constant &c) {
    return std::find(other.constants.begin(), other.constants.end(), c) == other.constants.end();
  });
  std::erase_if(outcomes, [&](const Outcome &o) {
    return std::find(other.outcomes.begin(), other.outcomes.end(), o) == other.outcomes.end();
  });
}

std::vector<BranchFacts> factsAtEntry(const IsaContext &isa, const Function &f) {
  std::vector<BranchFacts> entry(f.blocks.size());
  std::vector<uint8_t> reached(f.blocks.size(), 0), queued(f.blocks.size(), 0);
  if (f.blocks.empty())
    return entry;
  std::vector<uint32_t> rank(f.blocks.size(), 0);
  for (uint32_t r = 0; r < f.order.size(); ++r)
    rank[f.order[r]] = r;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<uint32_t>> work;
  work.push(rank[0]);
  reached[0] = queued[0] = 1;
  while (!work.empty()) {
    const uint32_t b = f.order[work.top()];
    work.pop();
    queued[b] = 0;
    const Block &block = f.blocks[b];
    BranchFacts out = entry[b];
    for (uint32_t i = block.first; i < block.last; ++i)
      out.step(isa, f, i);
    for (size_t k = 0; k < block.successors.size(); ++k) {
      BranchFacts edge = out;
      // Both edges may lead to one block; then nothing is learned from either. The jump's edge comes first.
      if (block.successors.size() == 2 && !edge.leave(isa, f, block, k == 0))
        continue; // never taken
      const uint32_t next = block.successors[k];
      bool changed = false;
      if (!reached[next]) {
        reached[next] = 1;
        entry[next] = edge;
        changed = true;
      } else {
        BranchFacts before = entry[next];
        entry[next].intersect(edge);
        changed = !(before == entry[next]);
      }
      if (changed && !queued[next]) {
        queued[next] = 1;
        work.push(rank[next]);
      }
    }
  }
  return entry;
}

} // namespace wavesan::waitcheck
