// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory that a replayed dispatch could write, saved in pageable host memory.
#ifndef WAVESAN_HSA_REPLAY_SNAPSHOT_H
#define WAVESAN_HSA_REPLAY_SNAPSHOT_H

#include "api.h"
#include "memory_map.h"
#include "replay_loop.h"
#include "store_set.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace wavesan::hsa {

/// Not thread-safe. Nothing may write the regions while it saves, restores or hashes them.
class Snapshot {
public:
  Snapshot(const Api &api, const MemoryMap &memory) : Runtime(api), Memory(memory) {}

  /// What save() will copy, and how long it will take at the speed of earlier ones: what `stores` can reach with these
  /// kernel arguments, all memory where that is not known. Null: all memory.
  MemoryStep plan(const std::vector<KernelStore> *stores = nullptr, const void *arguments = nullptr,
                  uint64_t argumentBytes = 0);
  /// Copies every region. False, after which nothing is held, with one line in `error`.
  bool save(MemoryStep &taken, std::string &error);
  /// Writes back what differs, chunk by chunk, in the regions that have not been freed. False: memory is in an
  /// undefined state.
  bool restore(MemoryStep &taken, std::string &error);
  /// A hash of all regions that are `wanted` (null: all) as they are now; 0 and a line in `error` if they cannot be
  /// read.
  uint64_t digest(std::string &error, const std::function<bool(const MemoryMap::LiveRange &)> &wanted = nullptr);

  struct Saved {
    MemoryMap::LiveRange range;
    std::unique_ptr<uint8_t[]> bytes;
  };
  const std::vector<Saved> &saved() const { return Regions; }
  /// Bytes as they are now. False, and a line in `error`, if they cannot be read.
  bool read(void *to, uint64_t from, uint64_t bytes, std::string &error) const;

private:
  const Api &Runtime;
  const MemoryMap &Memory;
  std::vector<MemoryMap::LiveRange> Planned;
  uint64_t Tracked = 0;
  std::vector<Saved> Regions;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_REPLAY_SNAPSHOT_H
