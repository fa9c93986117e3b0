// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Explain.h"

#include <algorithm>

namespace wavesan::waitcheck {
namespace {

/// The weakest number that clears the item just before the consumer. The consumer's own events, which its age already
/// counts, come later.
int sufficientWait(const IsaContext &isa, const Function &f, const Hazard &h) {
  if (!isOrdered(h.item.cls()))
    return 0;
  int age = h.item.age;
  const Decoded &d = isa.decoded(f.code[h.consumer].decoded);
  const Generation &g = isa.generation();
  for (unsigned e = 0; e < d.numEffects; ++e)
    if (d.effects[e].ages && isOrdered(d.effects[e].cls) && g.group(d.effects[e].cls) == g.group(h.item.cls()))
      --age;
  return std::max(age, 0);
}

Confidence confidenceOf(const IsaContext &isa, const Function &f, const Hazard &h, const HazardPath &path) {
  switch (h.item.kind()) {
  case ItemKind::LdsCopy: // unless it is known that the addresses meet
    if (h.code == HazardCode::LdsReadDuringCopy && f.lds && f.lds->certainlyMeets(h.item.slot(), h.consumer))
      break;
    return Confidence::Possible;
  case ItemKind::FlatLdsWrite: // whether it goes to LDS is not known
  case ItemKind::Anything:
    return Confidence::Possible;
  case ItemKind::Source:
    if (h.item.cls() == OrderClass::XVMem || h.item.cls() == OrderClass::XScalar)
      return Confidence::Possible; // only a replay after a page fault reads the source again
    break;
  default:
    break;
  }
  const OpcodeFacts &consumer = isa.decoded(f.code[h.consumer].decoded).facts;
  if (consumer.relativeUses || consumer.relativeDefs) // which register it means is not known
    return Confidence::Possible;
  // What a callee leaves pending it may leave on some of its paths only.
  if (path.producer != noProducer && isa.decoded(f.code[path.producer].decoded).facts.control == Control::Call)
    return Confidence::Possible;
  return path.found && !path.decided ? Confidence::Proven : Confidence::Possible;
}

/// The last wait for the counter between producer and consumer along the path.
int emittedWait(const IsaContext &isa, const Function &f, const HazardPath &path, const Hazard &h, Counter counter) {
  int last = -1;
  for (size_t k = 0; k < path.blocks.size(); ++k) {
    const Block &b = f.blocks[path.blocks[k]];
    const uint32_t from = k == 0 ? path.producer + 1 : b.first;
    for (uint32_t i = from; i < b.last && !(k + 1 == path.blocks.size() && i == h.consumer); ++i)
      if (f.code[i].decoded >= 0)
        if (const int8_t n = isa.decoded(f.code[i].decoded).wait[static_cast<unsigned>(counter)]; n >= 0)
          last = n;
  }
  return last;
}

} // namespace

std::string formatRegisters(const IsaContext &isa, std::vector<std::pair<uint16_t, uint8_t>> registers) {
  std::sort(registers.begin(), registers.end());
  // One entry per register, halves joined.
  std::vector<std::pair<uint16_t, uint8_t>> merged;
  for (const auto &r : registers)
    if (!merged.empty() && merged.back().first == r.first)
      merged.back().second |= r.second;
    else
      merged.push_back(r);
  auto split = [&](uint16_t slot) {
    const std::string &n = isa.slotName(slot);
    size_t digits = n.size();
    while (digits > 0 && n[digits - 1] >= '0' && n[digits - 1] <= '9')
      --digits;
    return std::pair(n.substr(0, digits), digits < n.size() ? std::stol(n.substr(digits)) : -1);
  };
  std::string text;
  for (size_t i = 0; i < merged.size();) {
    auto [prefix, number] = split(merged[i].first);
    size_t k = i + 1;
    while (number >= 0 && merged[i].second == 3 && k < merged.size() && merged[k].second == 3 &&
           split(merged[k].first) == std::pair(prefix, number + static_cast<long>(k - i)))
      ++k;
    if (!text.empty())
      text += ", ";
    if (k - i > 1)
      text += prefix + "[" + std::to_string(number) + ":" + std::to_string(number + static_cast<long>(k - i) - 1) + "]";
    else
      text += isa.slotName(merged[i].first) + (merged[i].second == 1 ? ".l" : merged[i].second == 2 ? ".h" : "");
    i = k;
  }
  return text;
}

Place placeOf(const IsaContext &isa, const Function &f, uint32_t instruction, LineTable &lines) {
  Place p;
  p.present = true;
  p.offset = f.addressOf(instruction) - f.entry.address;
  p.text = isa.disassemble(f.bytesAt(instruction), f.addressOf(instruction));
  lines.locate(f.addressOf(instruction), f.section->index, p);
  return p;
}

void explainHazards(const IsaContext &isa, const Function &f, const FunctionResult &found, LineTable &lines,
                    const CheckOptions &options, CheckResult &result) {
  PathSearch search(isa, f, found.solution);
  // One diagnostic per (kind, producer, consumer, counter): its registers belong together.
  struct Group {
    std::vector<const Hazard *> hazards;
  };
  std::map<std::tuple<uint32_t, HazardCode, uint32_t, unsigned>, Group> groups;
  bool entrySeen[numOrderClasses] = {};
  for (const Hazard &h : found.hazards) {
    if (h.code == HazardCode::EntryNotWaited) { // once per counter: the first use says it all
      if (entrySeen[static_cast<unsigned>(h.item.cls())])
        continue;
      entrySeen[static_cast<unsigned>(h.item.cls())] = true;
    }
    const Counter c = h.item.cls() == OrderClass::WaitStates ? Counter::Count : isa.generation().counter(h.item.cls());
    // Several copies into LDS that one wait would complete are one mistake.
    const uint32_t producer = h.item.kind() == ItemKind::LdsCopy ? noProducer : h.item.producer;
    groups[{h.consumer, h.code, producer, static_cast<unsigned>(c)}].hazards.push_back(&h);
  }
  unsigned kept = 0;
  for (const auto &[key, group] : groups) {
    const Hazard &h = *group.hazards.front();
    if (kept >= options.maxPerKernel) {
      ++result.counts.dropped;
      continue;
    }
    std::vector<std::pair<uint16_t, uint8_t>> registers;
    HazardPath path;
    const Hazard *shown = nullptr;
    for (const Hazard *each : group.hazards) {
      // Register hazards of one operation share the path; only superseded parts differ, so each is asked until one is
      // found. Of several copies a proven one is shown.
      const bool shares =
          shown && (each->item.kind() != ItemKind::LdsCopy || confidenceOf(isa, f, *shown, path) == Confidence::Proven);
      HazardPath p = shares ? path : search.find(*each);
      if (!p.found && p.exhausted)
        continue; // no feasible path for this register
      if (!shown || (!shares && confidenceOf(isa, f, *each, p) == Confidence::Proven)) {
        shown = each;
        path = p;
      }
      if (each->slot != memorySlot)
        registers.push_back({each->slot, each->mask});
    }
    if (!shown) {
      ++result.counts.infeasible;
      continue;
    }
    Diagnostic d;
    d.code = h.code;
    d.confidence = confidenceOf(isa, f, *shown, path);
    if (options.provenOnly && d.confidence != Confidence::Proven) {
      ++result.counts.belowConfidence;
      continue;
    }
    d.function = f.entry.name;
    d.isKernel = f.entry.isKernel;
    d.consumer = placeOf(isa, f, h.consumer, lines);
    if (path.producer != noProducer)
      d.producer = placeOf(isa, f, path.producer, lines);
    d.registers = formatRegisters(isa, registers);
    if (h.item.cls() == OrderClass::WaitStates) {
      d.sufficientWait = isa.generation().wideStoreStates;
    } else {
      const Counter c = isa.generation().counter(h.item.cls());
      d.counter = isa.generation().nameOf(c);
      d.sufficientWait = sufficientWait(isa, f, *shown);
      for (const Hazard *each : group.hazards)
        d.sufficientWait = std::min(d.sufficientWait, sufficientWait(isa, f, *each));
      d.emittedWait = emittedWait(isa, f, path, *shown, c);
    }
    for (size_t k = 0; k + 1 < path.blocks.size(); ++k) {
      const Block &b = f.blocks[path.blocks[k]];
      const uint32_t last = b.last - 1;
      if (b.first == b.last || f.code[last].decoded < 0)
        continue;
      const Control control = isa.decoded(f.code[last].decoded).facts.control;
      if (control == Control::Branch || control == Control::CondBranch || control == Control::SetPc ||
          control == Control::Call) {
        Place step = placeOf(isa, f, last, lines);
        const bool jumps = f.blocks[path.blocks[k + 1]].first != last + 1;
        step.text += jumps ? "   (taken)" : "   (not taken)";
        d.path.push_back(std::move(step));
      }
    }
    result.diagnostics.push_back(std::move(d));
    ++kept;
  }
}

namespace {

/// Whether the item, were it not cleared, would meet a hazard on some path behind instruction `from`.
bool isNeeded(const Function &f, const Solution &s, const Transfer &transfer, Item item, uint32_t block,
              uint32_t from) {
  std::vector<std::pair<uint32_t, Item>> work{{block, item}};
  std::map<uint32_t, unsigned> visited; // least age with which a block was entered
  bool first = true;
  while (!work.empty()) {
    auto [b, pending] = work.back();
    work.pop_back();
    bool alive = true;
    for (uint32_t i = first ? from + 1 : f.blocks[b].first; i < f.blocks[b].last && alive; ++i) {
      if (transfer.meets(pending, i))
        return true;
      alive = transfer.stepItem(pending, i, s.calls[b]);
    }
    first = false;
    if (!alive)
      continue;
    for (uint32_t next : f.blocks[b].successors) {
      auto [at, isNew] = visited.try_emplace(next, pending.age);
      if (!isNew && at->second <= pending.age)
        continue;
      at->second = pending.age;
      work.push_back({next, pending});
    }
  }
  return false;
}

} // namespace

void auditWaits(const IsaContext &isa, const Function &f, const Solution &s, LineTable &lines, CheckResult &result) {
  const Generation &g = isa.generation();
  const Transfer transfer(isa, f);
  for (uint32_t b : f.order) {
    PendingState state = s.entry[b];
    for (uint32_t i = f.blocks[b].first; i < f.blocks[b].last; ++i) {
      if (f.code[i].decoded >= 0) {
        const Decoded &d = isa.decoded(f.code[i].decoded);
        if (d.facts.control == Control::Wait)
          for (unsigned c = 0; c < numCounters; ++c) {
            if (d.wait[c] < 0)
              continue;
            // The smallest age among the cleared items that something behind the wait needs is the weakest number that
            // would do.
            int weakest = -1;
            bool memory = false;
            for (const Item &item : state.all()) {
              if (item.cls() == OrderClass::WaitStates || static_cast<unsigned>(g.counter(item.cls())) != c)
                continue;
              const int clears = isOrdered(item.cls()) ? item.age : 0;
              if (d.wait[c] > clears || (weakest >= 0 && clears >= weakest))
                continue;
              if (item.kind() == ItemKind::MemoryWrite)
                memory = true;
              else if (item.kind() == ItemKind::Anything || isNeeded(f, s, transfer, item, b, i))
                weakest = clears;
            }
            if (weakest == d.wait[c])
              continue;
            result.audit.push_back({f.entry.name, placeOf(isa, f, i, lines), g.nameOf(static_cast<Counter>(c)),
                                    d.wait[c], weakest, memory});
          }
      }
      transfer.step(state, i, s.calls[b], nullptr);
    }
  }
}

} // namespace wavesan::waitcheck
