// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the memory of snapshots goes: the device's own, pinned and pageable host memory, a file. Each tier has a hard
// budget.
#ifndef WAVESAN_HSA_SNAPSHOT_TIERS_H
#define WAVESAN_HSA_SNAPSHOT_TIERS_H

#include "api.h"
#include "snapshot_pages.h"

#include "wavesan/abi/options.h"
#include "wavesan/kernel_replay.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace wavesan::hsa {

/// In the order in which they are filled.
enum class Tier : uint8_t {
  Device = WAVESAN_TIER_DEVICE,
  Pinned = WAVESAN_TIER_PINNED,
  Pageable = WAVESAN_TIER_PAGEABLE,
  File = WAVESAN_TIER_FILE,
};
inline constexpr size_t kTiers = WAVESAN_TIER_LAST;
inline constexpr Tier kAllTiers[kTiers] = {Tier::Device, Tier::Pinned, Tier::Pageable, Tier::File};
using TierBytes = std::array<uint64_t, kTiers>;

/// What all snapshots of the process may take together. Thread-safe.
class TierBudgets {
public:
  explicit TierBudgets(const abi::Options &options);
  explicit TierBudgets(const TierBytes &limits) : Limits(limits) {}

  /// Of one tier, whatever is in use.
  uint64_t limit(Tier tier) const;
  /// What is left now.
  TierBytes room() const;
  /// False, and nothing taken, if it would be too much.
  bool take(Tier tier, uint64_t bytes);
  void give(Tier tier, uint64_t bytes);
  /// Of the pageable tier, for what has been taken of it. What is kept there is within the budget, too.
  SnapshotPages &pages() { return Pages; }

private:
  const TierBytes Limits;
  const bool Automatic = false; ///< pageable memory: a quarter of what the host has to spare
  mutable std::mutex Mutex;
  TierBytes Used{};
  SnapshotPages Pages;
};

/// A file without a name that one snapshot writes from its begin to its end. Not thread-safe.
class SnapshotFile {
public:
  /// Made at the first append().
  explicit SnapshotFile(std::string directory) : Directory(std::move(directory)) {}
  ~SnapshotFile();
  SnapshotFile(const SnapshotFile &) = delete;
  SnapshotFile &operator=(const SnapshotFile &) = delete;

  uint64_t size() const { return Size; }
  /// False and one line in `error`: a full disk, a directory that is not there.
  bool append(std::string_view bytes, std::string &error);
  bool read(void *to, uint64_t at, uint64_t bytes, std::string &error) const;
  void clear();

private:
  bool open(std::string &error);
  const std::string Directory;
  int Fd = -1;
  uint64_t Size = 0;
};

/// Where files of snapshots go: the option replay_directory, else TMPDIR, else /tmp.
std::string snapshotDirectory(const abi::Options &options);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_SNAPSHOT_TIERS_H
