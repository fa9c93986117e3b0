// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory that a replayed dispatch could write, saved in the tiers that have room for it (snapshot_tiers.h).
#ifndef WAVESAN_HSA_REPLAY_SNAPSHOT_H
#define WAVESAN_HSA_REPLAY_SNAPSHOT_H

#include "agent_info.h"
#include "api.h"
#include "memory_map.h"
#include "replay_loop.h"
#include "snapshot_tiers.h"
#include "store_set.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace wavesan::hsa {

/// What one dispatch of those that a snapshot is for can write. `stores` null: anything.
struct DispatchStores {
  const std::vector<KernelStore> *stores = nullptr;
  const void *arguments = nullptr;
  uint64_t argumentBytes = 0;
};

/// Not thread-safe. Nothing may write the regions while it saves, restores or hashes them.
class Snapshot {
public:
  using OfRange = std::function<bool(const MemoryMap::LiveRange &)>;
  /// `agent`: whose memory the tiers of device and pinned memory are allocated from; null: neither is used. `leftOut`:
  /// ranges that must stay as they are, unless it is kept whole; null: none.
  Snapshot(const Api &api, const MemoryMap &memory, TierBudgets &budgets, std::string directory,
           std::shared_ptr<const AgentInfo> agent = nullptr, OfRange leftOut = nullptr)
      : Runtime(api), Memory(memory), Budgets(budgets), Agent(std::move(agent)), LeftOut(std::move(leftOut)),
        File(std::move(directory)) {}
  ~Snapshot() { clear(); }
  Snapshot(const Snapshot &) = delete;
  Snapshot &operator=(const Snapshot &) = delete;

  /// Pageable memory alone, each region in one piece.
  void keepWhole() { Whole = true; }

  /// What save() will copy, where to, and how long it will take at the speed of earlier ones: what the dispatches can
  /// write, all memory where that is not known. Without dispatches: all memory.
  MemoryStep plan(const std::vector<DispatchStores> &dispatches = {});
  /// The regions of another one.
  MemoryStep plan(const Snapshot &like);
  /// Copies every region. Null, or the reason for which nothing is held, with one line in `error`.
  const char *save(MemoryStep &taken, std::string &error);
  /// Writes back what differs, chunk by chunk, in the regions that have not been freed. False: memory is in an
  /// undefined state.
  bool restore(MemoryStep &taken, std::string &error);
  /// A hash of all regions that are `wanted` (null: all) as they are now; 0 and a line in `error` if they cannot be
  /// read.
  uint64_t digest(std::string &error, const OfRange &wanted = nullptr);

  /// Pieces of a region begin and end at multiples of this, but for the region's end.
  static constexpr uint64_t kChunk = 64 * 1024;
  struct Piece {
    Tier tier;
    uint64_t offset, bytes;    ///< in the region
    uint8_t *memory = nullptr; ///< null: in the file
    uint64_t inFile = 0;
  };
  struct Saved {
    MemoryMap::LiveRange range;
    std::vector<Piece> pieces;
  };
  const std::vector<Saved> &saved() const { return Regions; }
  /// Bytes as they were saved: in place, or copied to `scratch`, which has room for them. They must lie within one
  /// chunk. Null, and a line in `error`, if they cannot be read.
  const uint8_t *savedBytes(const Saved &saved, uint64_t at, uint64_t bytes, uint8_t *scratch,
                            std::string &error) const;
  /// All of a region, of a snapshot that keeps them whole.
  static const uint8_t *wholeBytes(const Saved &saved) {
    return saved.pieces.empty() ? nullptr : saved.pieces[0].memory;
  }
  /// Bytes as they are now. False, and a line in `error`, if they cannot be read.
  bool read(void *to, uint64_t from, uint64_t bytes, std::string &error) const;

private:
  MemoryStep predict();
  bool saveRegion(const MemoryMap::LiveRange &range, TierBytes &room, TierBytes &nanoseconds, std::string &error);
  bool savePiece(const MemoryMap::LiveRange &range, Piece &piece, std::string &error);
  bool allocate(Piece &piece, std::string &error) const;
  void release(const Piece &piece);
  bool usable(Tier tier) const {
    return Whole ? tier == Tier::Pageable : Agent || (tier != Tier::Device && tier != Tier::Pinned);
  }
  void clear();

  const Api &Runtime;
  const MemoryMap &Memory;
  TierBudgets &Budgets;
  std::shared_ptr<const AgentInfo> Agent;
  const OfRange LeftOut;
  bool Whole = false, FileFailed = false;
  SnapshotFile File;
  std::vector<MemoryMap::LiveRange> Planned;
  uint64_t Tracked = 0;
  std::vector<Saved> Regions;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_REPLAY_SNAPSHOT_H
