// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pageable memory of snapshots, kept for the next one: most of what a copy into new memory takes is that its pages are
// touched for the first time, and a program's dispatches write about the same again and again.
#ifndef WAVESAN_HSA_SNAPSHOT_PAGES_H
#define WAVESAN_HSA_SNAPSHOT_PAGES_H

#include "wavesan/abi/replay.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace wavesan::hsa {

/// Thread-safe.
class SnapshotPages {
public:
  using Memory = std::unique_ptr<uint8_t[]>;
  static constexpr uint64_t kChunk = abi::WriteRecord::kChunk;
  /// What is kept is at most so many bytes that have been touched: others are addresses without memory.
  static constexpr uint64_t kMost = 64 << 20;

  struct Block {
    Memory memory;
    uint64_t bytes = 0;
    std::vector<bool> touched{}; ///< of each kChunk, whether a user has written there; perhaps shorter

    uint64_t touchedBytes() const;
  };
  /// Its contents are anything. Without memory: there is none.
  Block take(uint64_t bytes);
  void give(Block block);
  /// Frees of what is kept until it is no more than that.
  void keepAtMost(uint64_t bytes);
  uint64_t kept() const;

private:
  void shrink(uint64_t most);

  mutable std::mutex Mutex;
  std::deque<Block> Blocks; ///< the oldest first
  uint64_t Kept = 0;        ///< touched bytes of all
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_SNAPSHOT_PAGES_H
