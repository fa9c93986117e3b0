// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "store_set.h"

#include <algorithm>
#include <cstring>

namespace wavesan::hsa {

namespace {

/// No memory of a program lies there: a null pointer, or what is made of one.
constexpr uint64_t kFirstPage = 4096;

bool isNear(const MemoryMap::LiveRange &range, uint64_t address) {
  return address + kStoreMargin >= range.begin && address < range.begin + range.bytes + kStoreMargin;
}

/// Of a store through a pointer; nothing: it does not lie in the arguments.
std::optional<uint64_t> pointerOf(const KernelStore &store, const uint8_t *arguments, uint64_t bytes) {
  uint64_t address = 0;
  if (!arguments || *store.pointer + sizeof address > bytes)
    return std::nullopt;
  std::memcpy(&address, arguments + *store.pointer, sizeof address);
  return address;
}

} // namespace

std::optional<std::vector<MemoryMap::LiveRange>> writableRanges(const std::vector<MemoryMap::LiveRange> &live,
                                                                const std::vector<KernelStore> &stores,
                                                                const uint8_t *arguments, uint64_t bytes) {
  std::vector<bool> chosen(live.size());
  for (const KernelStore &store : stores) {
    uint64_t address = 0;
    if (store.pointer) {
      const std::optional<uint64_t> pointer = pointerOf(store, arguments, bytes);
      if (!pointer)
        return std::nullopt;
      address = *pointer;
      if (address < kFirstPage)
        continue;
    }
    bool found = false;
    for (size_t i = 0; i < live.size(); ++i) {
      // Of the same name in several executables: all.
      if (store.pointer ? !isNear(live[i], address) : live[i].name.empty() || live[i].name != store.variable)
        continue;
      chosen[i] = true;
      found = true;
    }
    if (!found)
      return std::nullopt;
  }
  std::vector<MemoryMap::LiveRange> ranges;
  for (size_t i = 0; i < live.size(); ++i)
    if (chosen[i])
      ranges.push_back(live[i]);
  return ranges;
}

std::vector<uint64_t> strayPointers(const std::vector<MemoryMap::LiveRange> &live,
                                    const std::vector<KernelStore> &stores, const uint8_t *arguments, uint64_t bytes) {
  std::vector<uint64_t> found;
  for (const KernelStore &store : stores) {
    const std::optional<uint64_t> pointer = store.pointer ? pointerOf(store, arguments, bytes) : std::nullopt;
    if (pointer && *pointer >= kFirstPage &&
        std::none_of(live.begin(), live.end(), [&](const auto &range) { return isNear(range, *pointer); }))
      found.push_back(*pointer);
  }
  return found;
}

} // namespace wavesan::hsa
