// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory that a replayed dispatch could write, saved in the tiers that have room for it (snapshot_tiers.h).
//
// On the CPU agent all that is written there goes through one process and can be noted (write_recording.h). Then a
// chunk is copied when it is first written, and only chunks that have been written are compared and put back. Where
// the record could miss something (memory that the host sees, that has two addresses, what goes to a file), memory is
// copied before the first pass; without a record everything counts as written.
//
// On a GPU the device runtime notes what the twins write (touch_map.h). What it notes it does not keep, so everything
// is copied before the first pass, and only what has been noted is compared and put back.
#ifndef WAVESAN_HSA_REPLAY_SNAPSHOT_H
#define WAVESAN_HSA_REPLAY_SNAPSHOT_H

#include "agent_info.h"
#include "api.h"
#include "memory_map.h"
#include "replay_loop.h"
#include "snapshot_tiers.h"
#include "store_set.h"
#include "touch_map.h"
#include "write_recording.h"

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

  /// From save() on, what is written is recorded by this agent, but for regions of `unknown`. Not where regions are
  /// kept whole.
  void recordWrites(const abi::CpuAgent &agent, OfRange unknown = nullptr) {
    Recorder = &agent;
    Unknown = std::move(unknown);
  }

  /// In place of that: from save() on, passes are told of a map in which to note what they write, where there is memory
  /// for one. Behind each of them passEnded() follows.
  void noteWrites(OfRange unknown) {
    Notes = true;
    Unknown = std::move(unknown);
  }
  uint64_t touchMap() const { return Map ? Map->address() : 0; } ///< 0: there is none
  /// `noted`: all that it wrote is in the map.
  void passEnded(bool noted);
  /// A pass may still write there.
  void abandonMap();

  /// What save() will copy at most, where to, and how long it will take at the speed of earlier ones: what the
  /// dispatches can write, all memory where that is not known. Without dispatches: all memory.
  MemoryStep plan(const std::vector<DispatchStores> &dispatches = {});
  /// The regions of another one, and of these what has been written since then. It must live as long.
  MemoryStep plan(const Snapshot &like);
  /// Copies every region, or has it copied as it is written. Null, or the reason for which nothing is held, with one
  /// line in `error`.
  const char *save(MemoryStep &taken, std::string &error);
  /// Writes back what differs, chunk by chunk, in the regions that have not been freed. False: memory is in an
  /// undefined state. `later`: one like this that will be restored next and has what it holds; null: none.
  bool restore(MemoryStep &taken, std::string &error, const Snapshot *later = nullptr);
  /// A hash of all regions that are `wanted` (null: all) as they are now; 0 and a line in `error` if they cannot be
  /// read.
  uint64_t digest(std::string &error, const OfRange &wanted = nullptr);

  /// Pieces of a region begin and end at multiples of this, but for the region's end.
  static constexpr uint64_t kChunk = abi::WriteRecord::kChunk;
  struct Piece {
    Tier tier;
    uint64_t offset, bytes;    ///< in the region
    uint8_t *memory = nullptr; ///< null: in the file
    uint64_t inFile = 0;
    std::vector<bool> usedBefore{};              ///< pageable: SnapshotPages::Block::touched
    const std::atomic<uint8_t> *state =
        nullptr;                    ///< abi::WriteRecord::State of its chunks, which are copied when written
    const uint8_t *noted = nullptr; ///< TouchMap::chunksOf() its first one; without either all may be written

    bool isTouched(uint64_t at) const { ///< `at`: in the region
      return noted ? !touchedWithin(chunkOf(at), kChunk).empty() : isCopied(at);
    }
    /// The begin of its chunk.
    uint64_t chunkOf(uint64_t at) const { return at - (at - offset) % kChunk; }
    /// It is in this piece.
    bool isCopied(uint64_t at) const {
      return !state || state[(at - offset) / kChunk].load(std::memory_order_acquire) != abi::WriteRecord::Untouched;
    }
    struct Part {
      uint64_t begin, end; ///< in the region
      bool empty() const { return begin == end; }
    };
    /// The first bytes of [at, at + bytes) in one part that may have been written. `at`: where a chunk of the map
    /// begins.
    Part touchedWithin(uint64_t at, uint64_t most) const;
    /// The first such chunk of the map in [at, end); else `end`.
    uint64_t nextNoted(uint64_t at, uint64_t end) const;
  };
  struct Saved {
    MemoryMap::LiveRange range;
    std::vector<Piece> pieces;
  };
  const std::vector<Saved> &saved() const { return Regions; }
  /// Whether the chunk in which this byte of a region lies may have been written since save().
  static bool isTouched(const Saved &saved, uint64_t at);
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
  /// What save() needs beside the regions.
  struct Saving {
    TierBytes room, nanoseconds{}, copied{};
  };
  bool saveRegion(const MemoryMap::LiveRange &range, bool recorded, Saving &saving, std::string &error);
  bool savePiece(const Saved &saved, Piece &piece, bool recorded, Saving &saving, std::string &error);
  bool savePart(const MemoryMap::LiveRange &range, Piece &piece, uint64_t &copied, std::string &error);
  std::vector<bool> recordable() const;
  uint64_t copiedBytes() const;
  static uint64_t copiedBytes(const Piece &piece);
  static void givePages(TierBudgets &budgets, const Piece &piece);
  bool restorePart(const Saved &saved, const Piece &piece, Piece::Part part, MemoryStep &taken, std::string &error);
  void makeMap(const std::vector<bool> &recorded);
  /// Pointers to memory of the agent can be used here.
  bool isOfCpuAgent() const { return Recorder || (Like && Like->Recorder); }
  bool allocate(Piece &piece, std::string &error) const;
  static void release(const Api &api, TierBudgets &budgets, const std::vector<Saved> &regions);
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
  std::vector<uint8_t> Now, Scratch; ///< of one chunk
  const abi::CpuAgent *Recorder = nullptr;
  OfRange Unknown;
  bool Notes = false;
  std::unique_ptr<TouchMap> Map;                               ///< null: there is none
  std::unique_ptr<WriteRecording> Recording;                   ///< null: nothing is recorded
  const Snapshot *Like = nullptr;                              ///< of plan()
  std::vector<std::unique_ptr<std::atomic<uint8_t>[]>> States; ///< of pieces, as they were in `Like`
  struct InUse;
  static void releaseUnused(const Api &api);
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_REPLAY_SNAPSHOT_H
