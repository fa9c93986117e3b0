// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LdsFacts.h"

#include "Program.h"
#include "ValueRanges.h"

#include <algorithm>
#include <numeric>

namespace wavesan::waitcheck {
namespace {

using llvm::StringRef;

/// Code looked at behind one barrier before nothing more is claimed.
constexpr uint64_t maxBehind = 1'000'000;
/// Barriers of one function, beyond which nothing is claimed about them.
constexpr size_t maxBarriers = 4000;
/// LDS addresses beyond this are taken for wrapped ones.
constexpr int64_t maxAddress = int64_t(1) << 24;

bool isLdsRead(const Decoded &d) {
  return d.facts.family == Family::Ds && d.facts.read && d.effects[0].cls == OrderClass::Lds;
}

/// A barrier of all waves of the workgroup, no named one.
bool isWorkgroupBarrier(const Decoded &d) {
  return d.facts.control == Control::Barrier && (d.facts.wholeBarrier || d.immediate == -1);
}

/// Bytes of one access: the number in the first part of the name that is a type ("B64" in DS_READ_B64_TR_B16). 0: not
/// known.
unsigned accessBytes(StringRef stem) {
  while (!stem.empty()) {
    auto [part, rest] = stem.split('_');
    stem = rest;
    unsigned bits = 0;
    if (part.size() > 1 && StringRef("BUIF").contains(part[0]) && !part.drop_front().getAsInteger(10, bits) &&
        bits % 8 == 0)
      return bits / 8;
  }
  return 0;
}

std::vector<int64_t> immediates(const PlainInstruction &p) {
  std::vector<int64_t> all;
  for (const PlainOperand &o : p.operands)
    if (o.kind == PlainOperand::Kind::Immediate)
      all.push_back(o.imm);
  return all;
}

LdsRange rangeAt(const ValueRange &base, int64_t offset, int64_t bytes, int64_t lane0Bytes, bool allLanes) {
  LdsRange r;
  r.first = int64_t(base.low) + offset;
  r.end = int64_t(base.high) + offset + bytes;
  r.known = r.first >= 0 && r.end <= maxAddress;
  r.lane0Known = r.known && base.lane0 && allLanes;
  if (r.lane0Known) {
    r.lane0First = int64_t(*base.lane0) + offset;
    r.lane0End = r.lane0First + lane0Bytes;
  }
  return r;
}

void include(LdsRange &to, const LdsRange &other) {
  to.first = std::min(to.first, other.first);
  to.end = std::max(to.end, other.end);
  to.known &= other.known;
  to.lane0Known = false; // of two accesses: not one range
}

/// What the DS instruction reads.
LdsRange readRange(const PlainInstruction &p, const ValueRanges &values) {
  const StringRef stem = p.stem;
  const unsigned bytes = accessBytes(stem);
  for (const char *other : {"ADDTID", "APPEND", "CONSUME", "ORDERED", "SRC2", "GWS", "BVH_STACK", "BARRIER"})
    if (stem.contains(other))
      return {};
  const PlainOperand *address = nullptr;
  for (size_t i = p.numDefs; i < p.operands.size() && !address; ++i)
    if (p.operands[i].kind == PlainOperand::Kind::Register)
      address = &p.operands[i];
  const std::vector<int64_t> offsets = immediates(p);
  if (bytes == 0 || !address || address->registers != 1 || offsets.empty())
    return {};
  const ValueRange base = values.of(*address);
  const bool two =
      stem.contains("READ2") || stem.contains("2ADDR") || stem.contains("WRXCHG2") || stem.contains("XCHG_2ADDR");
  if (!two)
    return rangeAt(base, offsets[0], bytes, bytes, values.allLanes());
  if (offsets.size() < 2)
    return {};
  const int64_t unit = int64_t(bytes) * (stem.contains("ST64") || stem.contains("STRIDE64") ? 64 : 1);
  LdsRange r = rangeAt(base, offsets[0] * unit, bytes, bytes, values.allLanes());
  include(r, rangeAt(base, offsets[1] * unit, bytes, bytes, values.allLanes()));
  return r;
}

/// What the copy writes.
LdsRange copyRange(const PlainInstruction &p, const ValueRanges &values, unsigned lanes) {
  const StringRef stem = p.stem;
  const std::vector<int64_t> all = immediates(p);
  if (stem.starts_with("GLOBAL_LOAD_ASYNC_TO_LDS_B")) {
    // The address of each lane is in the register that other loads write. That an offset counts for LDS as well is not
    // relied on.
    const unsigned bytes = accessBytes(stem);
    if (bytes == 0 || p.operands.empty() || p.operands[0].kind != PlainOperand::Kind::Register || all.empty())
      return {};
    const ValueRange base = values.of(p.operands[0]);
    LdsRange r = rangeAt(base, 0, bytes, bytes, values.allLanes());
    if (all[0] != 0)
      include(r, rangeAt(base, all[0], bytes, bytes, values.allLanes()));
    return r;
  }
  const bool buffer = stem.starts_with("BUFFER_LOAD_"), global = stem.starts_with("GLOBAL_LOAD_LDS_");
  if (!buffer && !global)
    return {};
  // M0, the offset, and as many dwords for each lane as it loads; bytes and halves take a dword.
  std::optional<int64_t> offset;
  if (global && !all.empty())
    offset = all[0];
  for (size_t i = 0; buffer && i + 2 < p.operands.size(); ++i)
    if (p.operands[i].kind == PlainOperand::Kind::Register &&
        p.operands[i].registers == 4) { // resource, scalar offset, offset
      if (p.operands[i + 2].kind == PlainOperand::Kind::Immediate)
        offset = p.operands[i + 2].imm;
      break;
    }
  const ValueRange m0 = values.ofM0();
  if (!offset || m0.high > 0xffff) // how more bits are used depends on the target
    return {};
  const unsigned dwords = stem.contains("X4") || stem.contains("X3") ? 4 : 1;
  return rangeAt(m0, *offset, int64_t(4) * dwords * lanes, stem.contains("_DWORD") ? 4 : 1, values.allLanes());
}

} // namespace

class LdsFactsBuilder {
public:
  LdsFactsBuilder(const IsaContext &isa, const Function &f) : isa(isa), f(f), facts(new LdsFacts(isa)) {}

  std::shared_ptr<const LdsFacts> build() {
    visitValues(isa, f, [&](uint32_t i, const ValueRanges &values) { look(i, values); });
    return facts;
  }

private:
  void look(uint32_t i, const ValueRanges &values) {
    const Decoded &d = isa.decoded(f.code[i].decoded);
    const bool copy = d.facts.toLds;
    if (!copy && !isLdsRead(d))
      return;
    PlainInstruction p;
    if (d.wide || f.isRelocated(i, d.size) || !isa.plain(f.bytesAt(i), p))
      return;
    if (!copy) {
      const LdsRange r = readRange(p, values);
      if (r.known)
        facts->reads[i] = r;
      return;
    }
    const LdsRange r = copyRange(p, values, isa.isWave64() ? 64 : 32);
    if (!r.known)
      return;
    auto at = std::find(facts->copies.begin(), facts->copies.end(), r);
    const size_t number = at - facts->copies.begin();
    if (number >= numCopySlots)
      return; // as if it were not known
    if (at == facts->copies.end())
      facts->copies.push_back(r);
    facts->slots[i] = static_cast<uint16_t>(firstCopySlot + number);
  }

  const IsaContext &isa;
  const Function &f;
  std::shared_ptr<LdsFacts> facts;
};

std::shared_ptr<const LdsFacts> LdsFacts::of(const IsaContext &isa, const Function &f) {
  for (uint32_t b : f.order)
    for (uint32_t i = f.blocks[b].first; i < f.blocks[b].last; ++i)
      if (f.code[i].decoded >= 0 && isa.decoded(f.code[i].decoded).facts.toLds)
        return LdsFactsBuilder(isa, f).build();
  return nullptr;
}

uint16_t LdsFacts::copySlot(uint32_t instruction) const {
  auto at = slots.find(instruction);
  return at == slots.end() ? memorySlot : at->second;
}

bool LdsFacts::apart(uint16_t slot, uint32_t instruction) const {
  if (slot == memorySlot)
    return false;
  auto read = reads.find(instruction);
  if (read == reads.end())
    return false;
  const LdsRange &copy = copies[slot - firstCopySlot];
  return read->second.end <= copy.first || copy.end <= read->second.first;
}

bool LdsFacts::certainlyMeets(uint16_t slot, uint32_t instruction) const {
  if (slot == memorySlot)
    return false;
  auto read = reads.find(instruction);
  if (read == reads.end())
    return false;
  const LdsRange &copy = copies[slot - firstCopySlot], &r = read->second;
  return copy.lane0Known && r.lane0Known && r.lane0First < copy.lane0End && copy.lane0First < r.lane0End;
}

bool LdsFacts::notReadBehind(const Function &f, uint16_t slot, uint32_t barrier) const {
  if (slot == memorySlot)
    return false;
  if (!meetingsKnown)
    findMeetings(f);
  auto with = meeting.find(barrier);
  if (with == meeting.end())
    return false;
  for (const uint32_t b : with->second) {
    auto [at, isNew] = behind.try_emplace(b);
    if (isNew)
      at->second = readsBehind(f, b);
    if (at->second.unknown ||
        !std::all_of(at->second.reads.begin(), at->second.reads.end(), [&](uint32_t r) { return apart(slot, r); }))
      return false;
  }
  return true;
}

/// While this wave is at one barrier, another one may be at a different one: where a branch leads to different
/// barriers, waves may part (a wave that copies and one that computes), and having parted they stay so. Barriers that
/// waves may be at together are one set; sets only grow, until no two ways out of one point, and no two members of a
/// set, have next barriers in different sets.
void LdsFacts::findMeetings(const Function &f) const {
  meetingsKnown = true;
  constexpr uint32_t none = ~0u;
  std::vector<uint32_t> barriers;
  std::vector<uint32_t> firstIn(f.blocks.size(), none); // number of the first barrier of a block
  std::vector<std::pair<uint32_t, uint32_t>> lastIn;    // block and number of its last barrier
  for (uint32_t b : f.order)
    for (uint32_t i = f.blocks[b].first; i < f.blocks[b].last; ++i)
      if (f.code[i].decoded >= 0 && isWorkgroupBarrier(isa.decoded(f.code[i].decoded))) {
        if (firstIn[b] == none)
          firstIn[b] = static_cast<uint32_t>(barriers.size());
        if (!lastIn.empty() && lastIn.back().first == b)
          lastIn.pop_back();
        lastIn.push_back({b, static_cast<uint32_t>(barriers.size())});
        barriers.push_back(i);
      }
  if (barriers.size() > maxBarriers)
    return;
  std::vector<uint32_t> parent(barriers.size());
  std::iota(parent.begin(), parent.end(), 0u);
  bool changed = true;
  auto find = [&](uint32_t x) {
    while (parent[x] != x)
      x = parent[x] = parent[parent[x]];
    return x;
  };
  auto merged = [&](uint32_t a, uint32_t b) {
    if (a == none || b == none)
      return a == none ? b : a;
    a = find(a);
    b = find(b);
    if (a != b) {
      parent[std::max(a, b)] = std::min(a, b);
      changed = true;
    }
    return std::min(a, b);
  };
  std::vector<uint32_t> next = firstIn; // the set of the barrier that comes next at a block's start
  auto behindBlock = [&](uint32_t b) {
    uint32_t n = none;
    for (uint32_t s : f.blocks[b].successors)
      n = merged(n, next[s]);
    return n;
  };
  while (changed) {
    changed = false;
    for (auto b = f.order.rbegin(); b != f.order.rend(); ++b)
      if (firstIn[*b] == none)
        if (const uint32_t n = behindBlock(*b); n != none && (next[*b] == none || find(next[*b]) != find(n))) {
          next[*b] = merged(next[*b], n);
          changed = true;
        }
    // What follows the barriers of one set, in the same block or in others.
    std::vector<uint32_t> after(barriers.size(), none);
    auto follow = [&](uint32_t barrier, uint32_t n) {
      uint32_t &a = after[find(barrier)];
      a = merged(a, n);
    };
    for (uint32_t k = 0; k + 1 < barriers.size(); ++k)
      if (f.blockOf(barriers[k]) == f.blockOf(barriers[k + 1]))
        follow(k, k + 1);
    for (const auto &[b, k] : lastIn)
      follow(k, behindBlock(b));
  }
  for (uint32_t k = 0; k < barriers.size(); ++k)
    for (uint32_t other = 0; other < barriers.size(); ++other)
      if (find(k) == find(other))
        meeting[barriers[k]].push_back(barriers[other]);
}

/// All waves run this code, so what one of them reads behind a barrier is read by an instruction that can be reached
/// from it before the next.
LdsFacts::Behind LdsFacts::readsBehind(const Function &f, uint32_t barrier) const {
  Behind result;
  std::vector<bool> seen(f.blocks.size(), false);
  std::vector<std::pair<uint32_t, uint32_t>> work; // block, first instruction
  work.push_back({static_cast<uint32_t>(f.blockOf(barrier) - f.blocks.data()), barrier + 1});
  uint64_t steps = 0;
  while (!work.empty()) {
    const auto [b, first] = work.back();
    work.pop_back();
    bool ends = false;
    for (uint32_t i = first; i < f.blocks[b].last && !ends; ++i) {
      if (++steps > maxBehind || f.code[i].decoded < 0) {
        result.unknown = true;
        return result;
      }
      const Decoded &d = isa.decoded(f.code[i].decoded);
      ends = isWorkgroupBarrier(d);
      if (isLdsRead(d))
        result.reads.push_back(i);
      // Reads whose addresses are elsewhere: FLAT, copies out of LDS, callees.
      const bool other = (d.facts.family == Family::Flat && d.facts.read) || d.facts.family == Family::Tensor ||
                         d.facts.family == Family::LdsDirect || (d.facts.async && !d.facts.toLds) ||
                         d.facts.control == Control::Call || d.facts.control == Control::SetPc ||
                         d.facts.control == Control::Unsupported;
      if (other) {
        result.unknown = true;
        return result;
      }
    }
    if (ends)
      continue;
    for (uint32_t next : f.blocks[b].successors)
      if (!seen[next]) {
        seen[next] = true;
        work.push_back({next, f.blocks[next].first});
      }
  }
  return result;
}

} // namespace wavesan::waitcheck
