// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Transfer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

namespace wavesan::waitcheck {
namespace {

/// A vector memory result arrives behind the translation of everything that was issued before it.
bool ownTranslation(const Decoded &d) {
  for (unsigned e = 0; e < d.numEffects; ++e)
    if (d.effects[e].cls == OrderClass::XVMem)
      return true;
  return false;
}

/// LLVM lists the result of MOVRELD among the uses, in front.
bool isResultAmongUses(const Decoded &d, const Operands &operands) {
  return d.facts.relativeDefs && operands.defs().empty() && !operands.uses().empty();
}

llvm::ArrayRef<RegRef> readBy(const Decoded &d, const Operands &operands) {
  return operands.uses().drop_front(isResultAmongUses(d, operands) ? 1 : 0);
}

/// A FLAT read may go to LDS; where its address lies is not followed, so it is never apart.
bool readsLds(const Decoded &d) {
  return d.facts.read && !d.facts.toLds &&
         ((d.facts.family == Family::Ds && d.effects[0].cls == OrderClass::Lds) || d.facts.family == Family::Flat);
}

} // namespace

PendingState Transfer::entryState() const {
  PendingState s;
  for (OrderClass c :
       {OrderClass::EntryLoad, OrderClass::EntryDs, OrderClass::EntrySample, OrderClass::EntryBvh, OrderClass::EntryKm})
    if (isa.generation().has(c))
      s.put({.key = Item::make(memorySlot, ItemKind::Anything, 3, c), .producer = noProducer});
  return s;
}

uint8_t Transfer::waitStates(const Decoded &d) const {
  if (d.facts.nop)
    return static_cast<uint8_t>(1 + (d.immediate & 15));
  return 1;
}

/// A younger result of the same ordered class into the same register: it lands later anyway, and when it is complete so
/// is the older.
bool Transfer::supersededInOrder(const Item &item, const Decoded &d) const {
  // A FLAT result comes back on either of two ways, which are not ordered with each other.
  if (!isOrdered(item.cls()) || d.facts.family == Family::Flat)
    return false;
  const bool vector =
      item.cls() == OrderClass::VMem || item.cls() == OrderClass::Sample || item.cls() == OrderClass::Bvh;
  if (vector && !isa.generation().vmemWritesInOrder)
    return false;
  for (unsigned e = 0; e < d.numEffects; ++e)
    if (d.effects[e].registers && d.effects[e].cls == item.cls())
      return true;
  return false;
}

void Transfer::check(const PendingState &state, const Decoded &d, const Operands &operands, uint32_t i,
                     std::vector<Hazard> &found) const {
  const size_t before = found.size();
  auto add = [&](HazardCode code, const Item &item, uint16_t slot, uint8_t common) {
    // Two operands may name one register.
    for (size_t k = before; k < found.size(); ++k)
      if (Hazard &h = found[k]; h.code == code && h.slot == slot && h.item.key == item.key) {
        h.mask |= common;
        return;
      }
    found.push_back({code, i, item, slot, common});
  };
  for (RegRef r : readBy(d, operands))
    if (state.mayHave(r.slot) && !(d.facts.relativeUses && isChosen(d, r.slot)))
      for (const Item &item : state.at(r.slot))
        if (item.kind() == ItemKind::Register && (item.mask() & r.mask))
          add(HazardCode::ReadPending, item, r.slot, static_cast<uint8_t>(item.mask() & r.mask));
  // Reading what one then overwrites is one mistake, not two.
  auto alsoRead = [&](uint16_t slot, uint8_t mask) {
    for (RegRef u : readBy(d, operands))
      if (u.slot == slot && (u.mask & mask))
        return true;
    return false;
  };
  for (RegRef r : operands.defs())
    if (state.mayHave(r.slot) && !(d.facts.relativeDefs && isChosen(d, r.slot)))
      for (const Item &item : state.at(r.slot)) {
        const uint8_t common = item.mask() & r.mask;
        if (!common)
          continue;
        if (item.kind() == ItemKind::Register && !supersededInOrder(item, d) && !alsoRead(r.slot, item.mask()))
          add(HazardCode::WritePending, item, r.slot, common);
        else if (item.kind() == ItemKind::Source &&
                 !(item.cls() == OrderClass::XVMem && d.facts.result && ownTranslation(d)))
          add(HazardCode::WriteLockedSource, item, r.slot, common);
        else if (item.kind() == ItemKind::StoreData && d.facts.valu)
          add(HazardCode::WideStoreDataWrite, item, r.slot, common);
      }
  if (d.facts.relativeUses || d.facts.relativeDefs)
    checkChosenByIndex(state, d, operands, i, found);
  const bool ldsRead = readsLds(d);
  if (ldsRead || d.facts.control == Control::Barrier)
    for (const Item &item : state.withoutRegister()) {
      const LdsFacts *lds = item.kind() == ItemKind::LdsCopy ? function.lds.get() : nullptr;
      if (d.facts.control == Control::Barrier) {
        if (item.kind() == ItemKind::LdsWrite || item.kind() == ItemKind::FlatLdsWrite)
          add(HazardCode::LdsWriteAtBarrier, item, memorySlot, 3);
        else if (item.kind() == ItemKind::LdsCopy && !(lds && lds->notReadBehind(function, item.slot(), i)))
          add(HazardCode::LdsCopyAtBarrier, item, memorySlot, 3);
      }
      if (ldsRead && item.kind() == ItemKind::LdsCopy && !(lds && lds->apart(item.slot(), i)))
        add(HazardCode::LdsReadDuringCopy, item, memorySlot, 3);
    }
  if (d.facts.control == Control::SetPc)
    checkReturn(state, i, found);
}

/// The register that an index chooses lies as far behind the named one as the index says; without bounds, anywhere
/// behind it.
void Transfer::checkChosenByIndex(const PendingState &state, const Decoded &d, const Operands &operands, uint32_t i,
                                  std::vector<Hazard> &found) const {
  const auto index = function.indices.find(i);
  const bool known = index != function.indices.end();
  enum class Reach { None, Unknown, Yes };
  auto reach = [&](llvm::ArrayRef<RegRef> named, uint16_t slot) {
    uint16_t first = noSlot, last = 0;
    for (RegRef r : named)
      if (isChosen(d, r.slot)) {
        first = std::min(first, r.slot);
        last = std::max(last, r.slot);
      }
    if (first == noSlot || slot < first)
      return Reach::None;
    if (known)
      return slot >= first + index->second.first && slot <= last + index->second.second ? Reach::Yes : Reach::None;
    return slot <= last ? Reach::Yes : Reach::Unknown;
  };
  const llvm::ArrayRef<RegRef> results =
      isResultAmongUses(d, operands) ? operands.uses().take_front() : operands.defs();
  for (const Item &item : state.all()) {
    const uint16_t slot = item.slot();
    if (slot >= firstCopySlot || !isChosen(d, slot))
      continue;
    auto add = [&](HazardCode code, Reach how) {
      found.push_back({code, i, item, slot, item.mask(), how == Reach::Unknown});
    };
    const Reach reads = d.facts.relativeUses ? reach(readBy(d, operands), slot) : Reach::None;
    const Reach writes = d.facts.relativeDefs ? reach(results, slot) : Reach::None;
    if (item.kind() == ItemKind::Register && reads != Reach::None)
      add(HazardCode::ReadPending, reads);
    else if (item.kind() == ItemKind::Register && writes != Reach::None)
      add(HazardCode::WritePending, writes);
    else if (item.kind() == ItemKind::Source && writes != Reach::None)
      add(HazardCode::WriteLockedSource, writes);
  }
}

/// Only a return: what a tail-called function must wait for, it waits for at its entry. LDS operations are looked for
/// in the callers where those are known.
void Transfer::checkReturn(const PendingState &state, uint32_t i, std::vector<Hazard> &found) const {
  const Block *b = function.blockOf(i);
  if (!b || b->last != i + 1 || !b->returns)
    return;
  for (const Item &item : state.all())
    if (item.kind() == ItemKind::Register)
      found.push_back({HazardCode::PendingAtReturn, i, item, item.slot(), item.mask()});
    else if (!function.callersSeeReturn && llvm::is_contained(ldsKinds, item.kind()))
      found.push_back({HazardCode::PendingAtReturn, i, item, memorySlot, 3});
}

void Transfer::checkEntry(const PendingState &state, const Decoded &d, const Operands &operands, uint32_t i,
                          std::vector<Hazard> &found) const {
  if (!state.mayHave(memorySlot))
    return;
  bool vector = false, scalar = false;
  auto look = [&](RegRef r) { (isa.isVector(r.slot) ? vector : scalar) = true; };
  for (RegRef r : operands.uses())
    if (!isa.isExec(r.slot))
      look(r);
  for (RegRef r : operands.defs())
    look(r);
  for (const Item &item : state.at(memorySlot)) {
    if (item.kind() != ItemKind::Anything)
      continue;
    auto callersHave = [&](CounterSet counters) { return (counters & counterBit(isa, item)) != 0; };
    bool touched = vector;
    if (item.cls() == OrderClass::EntryKm)
      touched = scalar;
    else if (item.cls() == OrderClass::EntryDs && isa.generation().counter(OrderClass::Scalar) == Counter::Ds)
      touched = vector || scalar;
    touched &= callersHave(function.callers.registers);
    if (d.facts.control == Control::Barrier)
      touched |= callersHave(function.callers.ldsWrites | function.callers.ldsCopies);
    else if (readsLds(d))
      touched |= callersHave(function.callers.ldsCopies);
    if (touched)
      found.push_back({HazardCode::EntryNotWaited, i, item, memorySlot, 3});
  }
}

bool Transfer::issueOnly(Item &item, uint32_t i) const {
  const Decoded *d = at(i);
  if (!d)
    return true;
  for (unsigned e = 0; e < d->numEffects; ++e)
    if (rules.issue(item, d->effects[e]))
      return false;
  return true;
}

bool Transfer::meets(Item item, uint32_t i) const {
  const Decoded *d = at(i);
  if (!d || d->facts.control == Control::Wait || (d->facts.waitsExp && rules.clearedBy(item, d->wait)) ||
      !issueOnly(item, i))
    return false;
  PendingState alone;
  alone.put(item);
  std::vector<Hazard> found;
  Operands operands;
  registersOf(*d, i, operands);
  check(alone, *d, operands, i, found);
  return !found.empty();
}

bool Transfer::stepItem(Item &item, uint32_t i, const CallFacts &call) const {
  const Decoded *d = at(i);
  if (!d)
    return true;
  if (d->facts.control == Control::Wait && item.kind() != ItemKind::StoreData)
    return !rules.clearedBy(item, d->wait);
  if (d->facts.waitsExp && rules.clearedBy(item, d->wait))
    return false;
  if (!issueOnly(item, i))
    return false;
  if (d->facts.control == Control::Call && isProved(item, call))
    return false;
  if (item.kind() == ItemKind::StoreData) {
    item.age = static_cast<uint8_t>(std::min<unsigned>(255, item.age + waitStates(*d)));
    return item.age < isa.generation().wideStoreStates;
  }
  if (item.kind() == ItemKind::Register || item.kind() == ItemKind::Source) {
    if (d->facts.relativeDefs)
      return true;
    Operands operands;
    registersOf(*d, i, operands);
    for (RegRef r : operands.defs())
      if (r.slot == item.slot() && (item.mask() & ~r.mask) == 0)
        return false;
  } else if (item.kind() != ItemKind::Anything) {
    // A younger item of the same kind and class stands for the older one.
    for (unsigned e = 0; e < d->numEffects; ++e)
      if (d->effects[e].hasItem && d->effects[e].item == item.kind() && d->effects[e].cls == item.cls() &&
          slotOfItem(d->effects[e], i) == item.slot())
        return false;
  }
  return true;
}

void Transfer::passWaitStates(PendingState &state, const Decoded &d) const {
  const uint8_t needed = isa.generation().wideStoreStates;
  if (needed == 0)
    return;
  if (!state.hasStoreData())
    return;
  bool over = false;
  for (Item &item : state.mutableItems())
    if (item.kind() == ItemKind::StoreData) {
      item.age = static_cast<uint8_t>(std::min<unsigned>(255, item.age + waitStates(d)));
      over |= item.age >= needed;
    }
  if (over)
    state.removeIf([&](const Item &item) { return item.kind() == ItemKind::StoreData && item.age >= needed; });
}

void Transfer::step(PendingState &state, uint32_t i, const CallFacts &call, std::vector<Hazard> *found) const {
  const Decoded *dp = at(i);
  if (!dp)
    return;
  const Decoded &d = *dp;
  if (d.facts.control == Control::Wait) {
    if (!state.empty()) {
      state.removeIf([&](const Item &item) { return rules.clearedBy(item, d.wait); });
      passWaitStates(state, d);
    }
    return;
  }
  if (d.facts.waitsExp && !state.empty())
    state.removeIf([&](const Item &item) { return rules.clearedBy(item, d.wait); });
  const bool isCall = d.facts.control == Control::Call;
  if (state.empty() && d.numEffects == 0 && d.numData == 0 && !isCall)
    return;
  Operands operands;
  registersOf(d, i, operands);
  if (!state.empty()) {
    bool complete = false;
    for (unsigned e = 0; e < d.numEffects; ++e) {
      if (!rules.concerns(d.effects[e]))
        continue;
      // Items that this event proves complete are marked by an age that no item has, then dropped together.
      for (Item &item : state.mutableItems())
        if (item.age != 255 && rules.issue(item, d.effects[e])) {
          item.age = 255;
          complete = true;
        }
    }
    if (complete)
      state.removeIf([](const Item &item) { return item.age == 255; });
    if (found) {
      check(state, d, operands, i, *found);
      if (!function.entry.isKernel)
        checkEntry(state, d, operands, i, *found);
    }
    // gfx1250: a vector memory instruction may overwrite sources of older ones, because their translation comes first.
    // Like the compiler, the checker then takes the translation of those older ones as done.
    if (isa.generation().sourceTranslation && d.facts.result && ownTranslation(d)) {
      int done = -1;
      for (RegRef r : operands.defs())
        for (const Item &item : state.at(r.slot))
          if (item.cls() == OrderClass::XVMem)
            done = done < 0 ? item.age : std::min<int>(done, item.age);
      if (done >= 0)
        state.removeIf([&](const Item &item) { return item.cls() == OrderClass::XVMem && item.age >= done; });
    }
    // Arrival at the second half of a barrier completes the scalar condition that its first half wrote.
    if (d.facts.control == Control::BarrierWait)
      state.removeIf([&](const Item &item) {
        return item.kind() == ItemKind::Register && item.producer != noProducer &&
               at(item.producer)->facts.family == Family::BarrierScc && at(item.producer)->immediate == d.immediate;
      });
    if (d.facts.control == Control::Call && call.proves)
      state.removeIf([&](const Item &item) { return isProved(item, call); });
    passWaitStates(state, d);
    // A hazard with a pending result has been reported or is none; either way the register now holds something newer.
    // (What an index chooses is not known to be the one.)
    for (RegRef r : operands.defs())
      if (state.mayHave(r.slot) && !d.facts.relativeDefs)
        state.overwrite(r.slot, r.mask);
  }
  for (unsigned e = 0; e < d.numEffects; ++e) {
    const Effect &effect = d.effects[e];
    if (effect.registers)
      for (RegRef r : operands.defs())
        state.put({.key = Item::make(r.slot, ItemKind::Register, r.mask, effect.cls), .producer = i});
    if (effect.locksSources) {
      OrderClass second = OrderClass::Count;
      if (effect.cls == OrderClass::XVMem || effect.cls == OrderClass::XScalar)
        second = d.effects[0].cls;
      for (RegRef r : operands.uses())
        state.put({.key = Item::make(r.slot, ItemKind::Source, r.mask, effect.cls), .producer = i, .second = second});
    }
    if (effect.hasItem)
      state.put({.key = Item::make(slotOfItem(effect, i), effect.item, 3, effect.cls), .producer = i});
  }
  // What the callee leaves pending: how many operations it issued behind that is not known, so none.
  if (isCall)
    for (size_t k = 0; k < ldsKinds.size(); ++k)
      for (uint32_t rest = call.leaves[k]; rest != 0; rest &= rest - 1)
        state.put({.key = Item::make(memorySlot, ldsKinds[k], 3, static_cast<OrderClass>(llvm::countr_zero(rest))),
                   .producer = i});
  if (d.numData != 0 && isa.generation().wideStoreStates)
    for (RegRef r : operands.storeData())
      state.put({.key = Item::make(r.slot, ItemKind::StoreData, r.mask, OrderClass::WaitStates), .producer = i});
}

} // namespace wavesan::waitcheck
