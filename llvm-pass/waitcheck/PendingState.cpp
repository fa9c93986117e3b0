// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PendingState.h"

namespace wavesan::waitcheck {

void PendingState::put(const Item &item) {
  auto at = const_cast<Item *>(lower(item.key));
  if (at != items.end() && at->key == item.key)
    *at = item;
  else
    items.insert(at, item);
  mark(item);
}

void PendingState::overwrite(uint16_t slot, uint8_t mask) {
  auto from = const_cast<Item *>(lower(uint32_t(slot) << 12));
  auto to = from, last = from;
  for (; last != items.end() && last->slot() == slot; ++last)
    if ((last->mask() & ~mask) != 0 || last->kind() == ItemKind::StoreData)
      *to++ = *last;
  items.erase(to, last);
}

bool PendingState::join(const PendingState &other) {
  // First a look without copying: most joins change nothing.
  bool grows = false;
  {
    size_t i = 0;
    for (const Item &o : other.items) {
      while (i < items.size() && items[i].key < o.key)
        ++i;
      if (i == items.size() || items[i].key != o.key || o.age < items[i].age || o.secondAge < items[i].secondAge ||
          (items[i].second != OrderClass::Count && o.second != items[i].second)) {
        grows = true;
        break;
      }
    }
  }
  if (!grows)
    return false;
  llvm::SmallVector<Item, 0> merged;
  merged.reserve(items.size() + other.items.size());
  size_t i = 0, j = 0;
  while (i < items.size() || j < other.items.size()) {
    if (j == other.items.size() || (i < items.size() && items[i].key < other.items[j].key)) {
      merged.push_back(items[i++]);
    } else if (i == items.size() || other.items[j].key < items[i].key) {
      merged.push_back(other.items[j++]);
    } else {
      Item m = items[i];
      const Item &o = other.items[j];
      if (o.age < m.age)
        m.producer = o.producer;
      m.age = std::min(m.age, o.age);
      m.secondAge = std::min(m.secondAge, o.secondAge);
      if (o.second != m.second)
        m.second = OrderClass::Count;
      merged.push_back(m);
      ++i;
      ++j;
    }
  }
  items = std::move(merged);
  for (size_t w = 0; w < slots.size(); ++w)
    slots[w] |= other.slots[w];
  storeData |= other.storeData;
  return true;
}

} // namespace wavesan::waitcheck
