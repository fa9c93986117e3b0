// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one instruction does to the pending state, and which hazards it meets there.
#ifndef WAVESAN_WAITCHECK_TRANSFER_H
#define WAVESAN_WAITCHECK_TRANSFER_H

#include "LdsFacts.h"
#include "PendingState.h"
#include "Program.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace wavesan::waitcheck {

/// A hazard as the analysis finds it; Diagnostics.h turns it into something to read.
struct Hazard {
  HazardCode code;
  uint32_t consumer; ///< instruction index
  Item item;         ///< as it stood when the consumer was issued
  uint16_t slot;     ///< the register; memorySlot if none
  uint8_t mask;      ///< the bytes in common: low half, high half, both
  bool unknownIndex = false; ///< no hazard for sure: an index without known bounds may choose the register
};

/// The counter of an item, as a set. Not for items of class WaitStates, which have none.
inline CounterSet counterBit(const IsaContext &isa, const Item &item) {
  return static_cast<CounterSet>(1u << static_cast<unsigned>(isa.generation().counter(item.cls())));
}

/// Steps through the instructions of one function.
///
/// Order within an instruction: its events are issued (a full counter must drain first), then operands are checked,
/// then results become pending. A wait does only the waiting.
class Transfer {
public:
  Transfer(const IsaContext &isa, const Function &function) : isa(isa), function(function), rules{isa.generation()} {}

  /// Applies instruction i. `call`: for the call that it may be. Hazards are appended to `found` if that is not null.
  void step(PendingState &state, uint32_t i, const CallFacts &call, std::vector<Hazard> *found) const;

  /// The same for a single item. False if the item is complete, or superseded, behind instruction i.
  bool stepItem(Item &item, uint32_t i, const CallFacts &call) const;

  /// The item as the consumer at i sees it: after its own events were issued. False if those prove it complete.
  bool issueOnly(Item &item, uint32_t i) const;

  /// Whether instruction i would be a hazard with this item alone pending.
  bool meets(Item item, uint32_t i) const;

  /// What a caller may have left pending.
  PendingState entryState() const;

  const ItemRules &itemRules() const { return rules; }

private:
  const Decoded *at(uint32_t i) const {
    const int32_t d = function.code[i].decoded;
    return d < 0 ? nullptr : &isa.decoded(d);
  }
  void registersOf(const Decoded &d, uint32_t i, Operands &to) const {
    isa.operands(d, function.section->bytes.data() + function.code[i].offset, to);
  }
  /// The slot of the item that an effect of instruction i leaves.
  uint16_t slotOfItem(const Effect &effect, uint32_t i) const {
    return effect.item == ItemKind::LdsCopy && function.lds ? function.lds->copySlot(i) : memorySlot;
  }
  void check(const PendingState &state, const Decoded &d, const Operands &operands, uint32_t i,
             std::vector<Hazard> &found) const;
  void checkChosenByIndex(const PendingState &state, const Decoded &d, const Operands &operands, uint32_t i,
                          std::vector<Hazard> &found) const;
  void checkReturn(const PendingState &state, uint32_t i, std::vector<Hazard> &found) const;
  void checkEntry(const PendingState &state, const Decoded &d, const Operands &operands, uint32_t i,
                  std::vector<Hazard> &found) const;
  bool isProved(const Item &item, const CallFacts &call) const {
    return item.cls() != OrderClass::WaitStates && (call.proves & counterBit(isa, item)) != 0;
  }
  /// Whether an index chooses among registers like this one.
  bool isChosen(const Decoded &d, uint16_t slot) const {
    return d.facts.valu ? isa.isVector(slot) : isa.isPlainScalar(slot);
  }
  bool supersededInOrder(const Item &item, const Decoded &d) const;
  uint8_t waitStates(const Decoded &d) const;
  void passWaitStates(PendingState &state, const Decoded &d) const;

  const IsaContext &isa;
  const Function &function;
  ItemRules rules;
};

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_TRANSFER_H
