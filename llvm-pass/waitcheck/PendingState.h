// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The set of things that may be incomplete at a program point (see Model.h for the rule that clears them).
#ifndef WAVESAN_WAITCHECK_PENDINGSTATE_H
#define WAVESAN_WAITCHECK_PENDINGSTATE_H

#include "IsaContext.h"

#include "llvm/ADT/SmallVector.h"

namespace wavesan::waitcheck {

/// One pending thing. Packed: states hold hundreds of them.
struct Item {
  uint32_t key;      ///< see make(); sorts by slot
  uint32_t producer; ///< instruction index in its function, or noProducer
  uint8_t age = 0;
  uint8_t secondAge = 0;
  OrderClass second = OrderClass::Count; ///< gfx1250 sources: also complete when the operation itself is

  static uint32_t make(uint16_t slot, ItemKind kind, uint8_t mask, OrderClass cls) {
    return uint32_t(slot) << 12 | uint32_t(kind) << 8 | uint32_t(mask) << 6 | uint32_t(cls);
  }
  uint16_t slot() const { return static_cast<uint16_t>(key >> 12); }
  ItemKind kind() const { return static_cast<ItemKind>(key >> 8 & 15); }
  uint8_t mask() const { return static_cast<uint8_t>(key >> 6 & 3); }
  OrderClass cls() const { return static_cast<OrderClass>(key & 63); }
};
static_assert(sizeof(Item) == 12);
static_assert(numOrderClasses <= 64);

/// The slot of items that stand for no register.
inline constexpr uint16_t memorySlot = 0xfffe;
/// Slots of copies into LDS whose bytes are known (LdsFacts.h). They sort in front of memorySlot and behind all
/// registers.
inline constexpr uint16_t firstCopySlot = 0xff00;
inline constexpr uint16_t numCopySlots = memorySlot - firstCopySlot;

/// What happens to one item at one instruction. The state and the path search use these same rules.
struct ItemRules {
  const Generation &gen;

  /// True if a wait for the given counters proves the item complete.
  bool clearedBy(const Item &item, const std::array<int8_t, numCounters> &wait) const {
    if (item.cls() == OrderClass::WaitStates)
      return false;
    const int8_t n = wait[static_cast<unsigned>(gen.counter(item.cls()))];
    if (n >= 0 && n <= item.age)
      return true;
    if (item.second == OrderClass::Count)
      return false;
    const int8_t m = wait[static_cast<unsigned>(gen.counter(item.second))];
    return m >= 0 && m <= item.secondAge;
  }

  /// Whether an event of `effect` changes any item.
  static bool concerns(const Effect &effect) {
    return effect.ages || effect.cls == OrderClass::XVMem || effect.cls == OrderClass::XScalar;
  }

  /// An event of `effect` is issued. Returns true if that alone proves the item complete: the counter cannot hold both.
  bool issue(Item &item, const Effect &effect) const {
    if (!concerns(effect))
      return false;
    bool complete = age(item.cls(), item.age, effect);
    if (item.second != OrderClass::Count)
      complete |= age(item.second, item.secondAge, effect);
    // The hardware never has translations of both kinds in flight.
    if ((item.cls() == OrderClass::XScalar && effect.cls == OrderClass::XVMem) ||
        (item.cls() == OrderClass::XVMem && effect.cls == OrderClass::XScalar))
      complete = true;
    return complete;
  }

private:
  bool age(OrderClass cls, uint8_t &itemAge, const Effect &effect) const {
    if (!isOrdered(cls) || cls == OrderClass::WaitStates || !effect.ages || gen.counter(cls) != gen.counter(effect.cls))
      return false;
    if (capacityReached(cls, itemAge))
      return true;
    if (isOrdered(effect.cls) && gen.group(cls) == gen.group(effect.cls) && itemAge < 254)
      ++itemAge;
    return false;
  }

  /// With `age` younger fellows and one more event, the counter would exceed its limit.
  bool capacityReached(OrderClass cls, uint8_t itemAge) const {
    const uint8_t limit = gen.limit(gen.counter(cls));
    return limit != unboundedCounter && itemAge + 1 >= limit;
  }
};

class PendingState {
public:
  bool empty() const { return items.empty(); }
  size_t size() const { return items.size(); }
  llvm::ArrayRef<Item> all() const { return items; }

  /// Items of one register slot (or of memorySlot).
  llvm::ArrayRef<Item> at(uint16_t slot) const {
    if (!mayHave(slot))
      return {};
    auto first = lower(uint32_t(slot) << 12);
    auto last = first;
    while (last != items.end() && last->slot() == slot)
      ++last;
    return llvm::ArrayRef<Item>(first, last);
  }

  /// Items that stand for no register.
  llvm::ArrayRef<Item> withoutRegister() const {
    if (items.empty() || items.back().slot() < firstCopySlot)
      return {};
    return llvm::ArrayRef<Item>(lower(uint32_t(firstCopySlot) << 12), items.end());
  }

  /// Adds the item, replacing an equal-keyed older one (which the younger one stands for).
  void put(const Item &item);

  template <class Predicate> void removeIf(Predicate predicate) {
    const size_t before = items.size();
    llvm::erase_if(items, predicate);
    if (items.size() != before)
      fillSlots();
  }

  /// False: no item of this slot. True: perhaps.
  bool mayHave(uint16_t slot) const { return slots[slot >> 6 & 3] >> (slot & 63) & 1; }
  /// False: no item of kind StoreData. True: perhaps.
  bool hasStoreData() const { return storeData; }

  /// Register and source items of the slot that lie wholly inside the mask go.
  void overwrite(uint16_t slot, uint8_t mask);

  llvm::MutableArrayRef<Item> mutableItems() { return items; }

  /// Union with minimum age. True if this state grew.
  bool join(const PendingState &other);

private:
  void mark(const Item &item) {
    slots[item.slot() >> 6 & 3] |= uint64_t(1) << (item.slot() & 63);
    storeData |= item.kind() == ItemKind::StoreData;
  }
  void fillSlots() {
    slots = {};
    storeData = false;
    for (const Item &i : items)
      mark(i);
  }
  llvm::SmallVectorImpl<Item>::const_iterator lower(uint32_t key) const {
    return std::lower_bound(items.begin(), items.end(), key, [](const Item &a, uint32_t k) { return a.key < k; });
  }

  llvm::SmallVector<Item, 0> items; ///< sorted by key
  std::array<uint64_t, 4>
      slots{}; ///< a superset of the slots present, modulo 256: vector registers do not collide with each other
  bool storeData = false;
};

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_PENDINGSTATE_H
