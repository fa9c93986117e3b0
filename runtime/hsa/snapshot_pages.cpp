// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "snapshot_pages.h"

#include <algorithm>
#include <new>

namespace wavesan::hsa {

uint64_t SnapshotPages::Block::touchedBytes() const {
  return std::min(bytes, uint64_t(std::count(touched.begin(), touched.end(), true)) * kChunk);
}

SnapshotPages::Block SnapshotPages::take(uint64_t bytes) {
  {
    std::lock_guard lock(Mutex);
    // The one that was given last: its pages are the likeliest to be in caches.
    const auto same = std::find_if(Blocks.rbegin(), Blocks.rend(), [&](const Block &b) { return b.bytes == bytes; });
    if (same != Blocks.rend()) {
      Block found = std::move(*same);
      Blocks.erase(std::next(same).base());
      Kept -= found.touchedBytes();
      return found;
    }
  }
  return {Memory(new (std::nothrow) uint8_t[bytes]), bytes};
}

void SnapshotPages::give(Block block) {
  const uint64_t touched = block.touchedBytes();
  if (touched == 0 || touched > kMost)
    return;
  std::lock_guard lock(Mutex);
  Kept += touched;
  Blocks.push_back(std::move(block));
  shrink(kMost);
}

void SnapshotPages::keepAtMost(uint64_t bytes) {
  std::lock_guard lock(Mutex);
  shrink(bytes);
}

uint64_t SnapshotPages::kept() const {
  std::lock_guard lock(Mutex);
  return Kept;
}

void SnapshotPages::shrink(uint64_t most) {
  while (Kept > most) {
    Kept -= Blocks.front().touchedBytes();
    Blocks.pop_front();
  }
}

} // namespace wavesan::hsa
