// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program.h"

#include "IndexRanges.h"

#include "LdsFacts.h"

#include "llvm/ADT/DenseSet.h"

#include <algorithm>
#include <optional>

namespace wavesan::waitcheck {
namespace {

/// Values of scalar registers inside one block, followed far enough to find the targets of calls and long branches:
/// s_getpc_b64, s_add_u32, s_addc_u32, s_mov.
class ScalarValues {
public:
  explicit ScalarValues(const IsaContext &isa) : isa(isa) {}

  /// Executes the instruction at `bytes`.
  void step(const Decoded &d, const uint8_t *bytes, uint64_t nextAddress) {
    if (d.facts.relativeDefs)
      return clear();
    const ScalarOperands s = d.scalar;
    std::optional<uint32_t> low, high;
    const bool newCarryKnown = d.facts.scalar == ScalarForm::Add || d.facts.scalar == ScalarForm::AddCarry;
    std::optional<bool> newCarry;
    bool pair = false;
    if (s.valid && s.dest != noSlot) {
      const auto a = value(s.a, s.immA), b = value(s.b, s.immB);
      switch (d.facts.scalar) {
      case ScalarForm::Move:
        low = a;
        break;
      case ScalarForm::Move64:
        pair = true;
        low = a;
        high = s.a == noSlot ? std::optional<uint32_t>(static_cast<uint32_t>(s.immA >> 32)) : value(s.a + 1, 0);
        break;
      case ScalarForm::Add:
        if (a && b) {
          low = *a + *b;
          newCarry = uint64_t(*a) + *b > 0xffffffffu;
        }
        break;
      case ScalarForm::AddCarry:
        if (a && b && carry) {
          low = *a + *b + *carry;
          newCarry = uint64_t(*a) + *b + *carry > 0xffffffffu;
        }
        break;
      case ScalarForm::Add64: {
        pair = true;
        const auto ah =
            s.a == noSlot ? std::optional<uint32_t>(static_cast<uint32_t>(s.immA >> 32)) : value(s.a + 1, 0);
        const auto bh =
            s.b == noSlot ? std::optional<uint32_t>(static_cast<uint32_t>(s.immB >> 32)) : value(s.b + 1, 0);
        if (a && b && ah && bh) {
          const uint64_t sum = (uint64_t(*ah) << 32 | *a) + (uint64_t(*bh) << 32 | *b);
          low = static_cast<uint32_t>(sum);
          high = static_cast<uint32_t>(sum >> 32);
        }
        break;
      }
      case ScalarForm::GetPc:
        pair = true;
        low = static_cast<uint32_t>(nextAddress);
        high = static_cast<uint32_t>(nextAddress >> 32);
        break;
      case ScalarForm::Compare:
      case ScalarForm::None:
        break;
      }
    }
    Operands operands;
    isa.operands(d, bytes, operands);
    for (RegRef r : operands.defs()) {
      forget(r.slot);
      if (r.slot == isa.sccSlot())
        carry.reset();
    }
    if (newCarryKnown)
      carry = newCarry;
    if (low)
      known.push_back({s.dest, *low});
    if (pair && high)
      known.push_back({static_cast<uint16_t>(s.dest + 1), *high});
  }

  std::optional<uint64_t> pairAt(uint16_t slot) const {
    const auto low = value(slot, 0), high = value(slot + 1, 0);
    if (!low || !high)
      return std::nullopt;
    return uint64_t(*high) << 32 | *low;
  }

  void clear() {
    known.clear();
    carry.reset();
  }

private:
  std::optional<uint32_t> value(uint16_t slot, int64_t imm) const {
    if (slot == noSlot)
      return static_cast<uint32_t>(imm);
    for (const auto &[s, v] : known)
      if (s == slot)
        return v;
    return std::nullopt;
  }
  void forget(uint16_t slot) {
    known.erase(std::remove_if(known.begin(), known.end(), [&](const auto &k) { return k.first == slot; }),
                known.end());
  }
  const IsaContext &isa;
  std::vector<std::pair<uint16_t, uint32_t>> known;
  std::optional<bool> carry;
};

class Builder {
public:
  Builder(IsaContext &isa, Function &f) : isa(isa), f(f) { returnSlot = isa.slotOf("s30"); }

  void run() {
    const CodeSection &s = *f.section;
    if (f.entry.address < s.address || f.entry.address - s.address >= s.bytes.size()) {
      f.gaps.undecodable = 1;
      f.gaps.firstName = "entry outside of its section";
      return;
    }
    const uint64_t begin = f.entry.address - s.address;
    base = begin / 4;
    uint64_t end = s.bytes.size();
    if (f.entry.size != 0 && f.entry.size <= end - begin)
      end = begin + f.entry.size;
    decodeRange(begin, end);
    // A branch may leave the symbol's range (hand-written code): what it reaches belongs to the function too, and is
    // appended, so the loop comes to its branches as well. Less than a word at the section's end holds no instruction.
    for (size_t i = 0; i < f.code.size() && f.code.size() < maxInstructions; ++i) {
      const auto target = directTarget(i);
      if (target && *target % 4 == 0 && *target < s.bytes.size() && s.bytes.size() - *target >= 4 && find(*target) < 0)
        decodeUntilEnd(*target);
    }
    // Long branches are found by following scalar values, which needs blocks; new targets split blocks, so repeat.
    for (int round = 0; round < 4; ++round) {
      makeBlocks();
      if (!resolveIndirect())
        break;
    }
    connect();
    orderBlocks();
    widenRegisters();
    resolveIndices(isa, f, notFollowed);
    countGaps();
  }

private:
  static constexpr size_t maxInstructions = size_t(1) << 30;

  const Decoded *at(size_t i) const { return f.code[i].decoded < 0 ? nullptr : &isa.decoded(f.code[i].decoded); }

  void append(uint64_t offset, int index) {
    f.code.push_back({static_cast<uint32_t>(offset), index});
    const size_t word = offset / 4;
    const int32_t i = static_cast<int32_t>(f.code.size() - 1);
    if (word - base < indexOf.size())
      indexOf[word - base] = i;
    else
      indexOfOutside[static_cast<uint32_t>(word)] = i;
  }

  int32_t find(uint64_t offset) const {
    const size_t word = offset / 4;
    if (offset % 4 != 0)
      return -1;
    if (word - base < indexOf.size())
      return indexOf[word - base];
    if (indexOfOutside.empty() || offset >= f.section->bytes.size())
      return -1;
    auto at = indexOfOutside.find(static_cast<uint32_t>(word));
    return at == indexOfOutside.end() ? -1 : at->second;
  }

  unsigned decodeOne(uint64_t offset) {
    int index = isa.decode(f.section->bytes.drop_front(offset));
    const std::vector<uint64_t> &changed = f.section->relocations;
    if (index >= 0 && !changed.empty()) {
      auto next = std::lower_bound(changed.begin(), changed.end(), offset);
      if (next != changed.end() && *next < offset + isa.decoded(index).size &&
          isa.decoded(index).facts.scalar != ScalarForm::None) {
        Decoded unknown = isa.decoded(index); // its literal is not final
        unknown.scalar.valid = false;
        index = static_cast<int>(isa.addVariant(unknown));
      }
    }
    append(offset, index);
    return index < 0 ? 4 : isa.decoded(index).size;
  }

  void decodeRange(uint64_t begin, uint64_t end) {
    f.code.reserve((end - begin) / 6);
    indexOf.assign((end - begin) / 4 + 1, -1);
    for (uint64_t offset = begin; offset + 4 <= end;)
      offset += decodeOne(offset);
  }

  void decodeUntilEnd(uint64_t offset) {
    while (offset + 4 <= f.section->bytes.size() && find(offset) < 0) {
      offset += decodeOne(offset);
      const Decoded *d = at(f.code.size() - 1);
      if (!d || d->facts.control == Control::End || d->facts.control == Control::Branch ||
          d->facts.control == Control::SetPc)
        return;
    }
    // Falls into code that is already there: a chunk's last instruction is followed by that instruction, not by the
    // next in the list.
    if (find(offset) >= 0)
      joins[static_cast<uint32_t>(f.code.size() - 1)] = static_cast<uint32_t>(find(offset));
  }

  std::optional<uint64_t> directTarget(size_t i) const {
    const Decoded *d = at(i);
    if (!d || !d->hasTarget || (d->facts.control != Control::Branch && d->facts.control != Control::CondBranch))
      return std::nullopt;
    return static_cast<uint64_t>(f.code[i].offset + d->relativeTarget);
  }

  bool endsBlock(size_t i) const {
    const Decoded *d = at(i);
    if (!d)
      return true;
    switch (d->facts.control) {
    case Control::Branch:
    case Control::CondBranch:
    case Control::Call:
    case Control::SetPc:
    case Control::End:
    case Control::Unsupported:
      return true;
    default:
      return false;
    }
  }

  /// The instruction executed after i, if i does not end a path; -1 if there is none.
  int32_t following(size_t i) const {
    if (!joins.empty())
      if (auto to = joins.find(static_cast<uint32_t>(i)); to != joins.end())
        return static_cast<int32_t>(to->second);
    const Decoded *d = at(i);
    return find(uint64_t(f.code[i].offset) + (d ? d->size : 4));
  }

  void makeBlocks() {
    std::vector<bool> leader(f.code.size(), false);
    if (f.code.empty())
      return;
    leader[0] = true;
    for (size_t i = 0; i < f.code.size(); ++i) {
      if (auto t = directTarget(i))
        if (int32_t k = find(*t); k >= 0)
          leader[k] = true;
      const int32_t next = following(i);
      if (!endsBlock(i) && next == static_cast<int32_t>(i + 1))
        continue;
      if (i + 1 < f.code.size())
        leader[i + 1] = true;
      if (next >= 0)
        leader[next] = true;
    }
    for (const auto &[from, to] : indirect)
      leader[to] = true;
    f.blocks.clear();
    blockOf.assign(f.code.size(), 0);
    for (size_t i = 0; i < f.code.size(); ++i) {
      if (leader[i])
        f.blocks.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(i), {}, CallKind::None, false, false, 0});
      f.blocks.back().last = static_cast<uint32_t>(i + 1);
      blockOf[i] = static_cast<uint32_t>(f.blocks.size() - 1);
    }
  }

  /// Follows scalar values to calls and jumps through registers. True if a new jump target splits a block.
  bool resolveIndirect() {
    bool split = false;
    ScalarValues values(isa);
    for (Block &b : f.blocks) {
      const Decoded *end = at(b.last - 1);
      if (!end || (end->facts.control != Control::SetPc && end->facts.control != Control::Call))
        continue;
      if (end->facts.control == Control::Call && end->hasTarget) { // s_call_b64
        b.call = CallKind::Known;
        b.callee = f.section->address + f.code[b.last - 1].offset + end->relativeTarget;
        continue;
      }
      values.clear();
      for (uint32_t i = b.first; i + 1 < b.last; ++i)
        if (const Decoded *d = at(i))
          values.step(*d, f.bytesAt(i).data(), f.addressOf(i) + d->size);
      Operands operands;
      isa.operands(*end, f.bytesAt(b.last - 1).data(), operands);
      const auto uses = operands.uses();
      const auto target = uses.empty() ? std::nullopt : values.pairAt(uses.front().slot);
      if (end->facts.control == Control::Call) {
        b.call = target ? CallKind::Known : CallKind::Unknown;
        b.callee = target.value_or(0);
        continue;
      }
      if (!target) {
        if (!f.entry.isKernel) {
          b.returns = !uses.empty() && uses.front().slot == returnSlot;
          b.tailCall = !b.returns;
          b.call = b.tailCall ? CallKind::Unknown : CallKind::None;
        }
        continue;
      }
      const uint64_t offset = *target - f.section->address;
      const int32_t k = *target >= f.section->address && offset < f.section->bytes.size() ? find(offset) : -1;
      if (k < 0) { // another function
        b.tailCall = true;
        b.call = CallKind::Known;
        b.callee = *target;
        continue;
      }
      if (indirect.try_emplace(b.last - 1, static_cast<uint32_t>(k)).second)
        split |= f.blocks[blockOf[k]].first != static_cast<uint32_t>(k);
    }
    return split;
  }

  void connect() {
    for (Block &b : f.blocks) {
      const uint32_t last = b.last - 1;
      const Decoded *d = at(last);
      auto to = [&](int32_t instruction) {
        if (instruction < 0)
          return;
        const uint32_t s = blockOf[instruction];
        if (std::find(b.successors.begin(), b.successors.end(), s) == b.successors.end())
          b.successors.push_back(s);
      };
      if (!d)
        continue; // nothing is known behind bytes that are no instruction
      switch (d->facts.control) {
      case Control::End:
        continue;
      case Control::Branch:
      case Control::CondBranch: {
        const auto t = directTarget(last);
        const int32_t k = t ? find(*t) : -1;
        if (k >= 0)
          to(k);
        else
          everywhere(b);
        if (d->facts.control == Control::CondBranch)
          to(following(last));
        continue;
      }
      case Control::SetPc: {
        if (b.returns || b.tailCall)
          continue;
        if (auto target = indirect.find(last); target != indirect.end())
          to(static_cast<int32_t>(target->second));
        else
          everywhere(b);
        continue;
      }
      case Control::Unsupported:
        everywhere(b);
        continue;
      default:
        to(following(last));
      }
    }
    if (unresolved.empty())
      return;
    const uint32_t all = static_cast<uint32_t>(f.blocks.size()), end = static_cast<uint32_t>(f.code.size());
    f.blocks.push_back({end, end, {}, CallKind::None, false, false, 0});
    for (uint32_t s = 0; s < all; ++s)
      f.blocks.back().successors.push_back(s);
  }

  /// A jump that may go anywhere in the function: to a last, empty block, from where all others are reached.
  void everywhere(Block &b) {
    unresolved.insert(b.last - 1);
    b.successors.assign(1, static_cast<uint32_t>(f.blocks.size()));
  }

  void orderBlocks() {
    if (f.blocks.empty())
      return;
    std::vector<uint8_t> seen(f.blocks.size(), 0);
    std::vector<std::pair<uint32_t, uint32_t>> stack{{0, 0}};
    seen[0] = 1;
    while (!stack.empty()) {
      auto &[b, next] = stack.back();
      if (next < f.blocks[b].successors.size()) {
        const uint32_t s = f.blocks[b].successors[next++];
        if (!seen[s]) {
          seen[s] = 1;
          stack.push_back({s, 0});
        }
      } else {
        f.order.push_back(b);
        stack.pop_back();
      }
    }
    std::reverse(f.order.begin(), f.order.end());
  }

  /// gfx1250: s_set_vgpr_msb gives the vector registers of what follows it two more bits. Where it was executed with
  /// the same bits on all paths, instructions are replaced by those with the registers that they mean.
  void widenRegisters() {
    if (!isa.generation().wideRegisters)
      return;
    constexpr int16_t unreached = -2, unknown = -1;
    bool any = false;
    for (uint32_t b : f.order)
      for (uint32_t i = f.blocks[b].first; i < f.blocks[b].last && !any; ++i)
        any = modeBehind(i, 0, unknown) != 0;
    if (!any)
      return;
    std::vector<int16_t> entry(f.blocks.size(), unreached);
    entry[0] = 0; // by the calling convention
    std::vector<uint32_t> work{0};
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      int16_t mode = entry[b];
      for (uint32_t i = f.blocks[b].first; i < f.blocks[b].last; ++i)
        mode = modeBehind(i, mode, unknown);
      for (uint32_t next : f.blocks[b].successors) {
        const int16_t joined = entry[next] == unreached || entry[next] == mode ? mode : unknown;
        if (joined != entry[next]) {
          entry[next] = joined;
          work.push_back(next);
        }
      }
    }
    for (uint32_t b : f.order) {
      int16_t mode = entry[b];
      for (uint32_t i = f.blocks[b].first; i < f.blocks[b].last; ++i) {
        if (at(i) && mode != 0) {
          const int wide =
              mode == unknown ? -1 : isa.decodeWide(f.bytesAt(i), static_cast<uint8_t>(mode), f.code[i].decoded);
          if (wide >= 0)
            f.code[i].decoded = wide;
          else if (isa.hasVectorRegisters(*at(i), f.bytesAt(i).data()))
            notWidened.insert(i);
        }
        mode = modeBehind(i, mode, unknown);
      }
    }
  }

  int16_t modeBehind(uint32_t i, int16_t mode, int16_t unknown) const {
    const Decoded *d = at(i);
    if (!d)
      return mode;
    if (d->facts.vgprMsb)
      return static_cast<int16_t>(d->immediate & 255); // the upper byte is the old mode
    if (d->facts.control == Control::Call)
      return 0;
    // s_setreg to the mode register also writes these bits, whatever its own field is: the result's are 12 and 13, then
    // the sources'.
    const llvm::StringRef stem = isa.opcodeStem(d->opcode);
    if (!stem.starts_with("S_SETREG"))
      return mode;
    constexpr unsigned modeRegister = 1;
    const EncodingWord word = EncodingWord::read(f.bytesAt(i).data(), d->size / 4);
    if (word.field(0, 6) != modeRegister)
      return mode;
    if (!stem.starts_with("S_SETREG_IMM32"))
      return unknown;
    return static_cast<int16_t>(word.field(32 + 14, 6) | word.field(32 + 12, 2) << 6);
  }

  void countGaps() {
    auto note = [&](unsigned &counter, uint32_t i) {
      ++counter;
      if (f.gaps.firstName.empty())
        f.gaps.firstName = isa.disassemble(f.bytesAt(i), f.addressOf(i));
    };
    for (uint32_t b : f.order)
      for (uint32_t i = f.blocks[b].first; i < f.blocks[b].last; ++i) {
        const Decoded *d = at(i);
        if (!d)
          note(f.gaps.undecodable, i);
        else if (d->unsupported || d->facts.control == Control::Unsupported)
          note(f.gaps.unsupported, i);
        else if (!notFollowed.empty() && notFollowed.contains(i))
          note(f.gaps.indices, i);
        else if (d->waitUnknown)
          note(f.gaps.unknownWaits, i);
        else if (!notWidened.empty() && notWidened.contains(i))
          note(f.gaps.wideRegisters, i);
        else if (!unresolved.empty() && unresolved.contains(i))
          note(f.gaps.indirectBranches, i);
      }
  }

  IsaContext &isa;
  Function &f;
  size_t base = 0;
  std::vector<int32_t> indexOf;                     ///< instruction by dword offset from base
  llvm::DenseMap<uint32_t, int32_t> indexOfOutside; ///< by dword offset, outside of the symbol's range
  std::vector<uint32_t> blockOf;                    ///< by instruction
  llvm::DenseMap<uint32_t, uint32_t> indirect;      ///< resolved jumps through registers
  llvm::DenseMap<uint32_t, uint32_t> joins;         ///< chunk ends that fall into existing code
  llvm::DenseSet<uint32_t> unresolved;
  llvm::DenseSet<uint32_t> notWidened; ///< vector instructions behind an unknown s_set_vgpr_msb
  llvm::DenseSet<uint32_t> notFollowed;
  uint16_t returnSlot = noSlot;
};

} // namespace

Function buildFunction(IsaContext &isa, const FunctionEntry &entry, const CodeSection &section) {
  Function f;
  f.entry = entry;
  f.section = &section;
  Builder(isa, f).run();
  f.lds = LdsFacts::of(isa, f);
  return f;
}

} // namespace wavesan::waitcheck
