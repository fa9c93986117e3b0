// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "snapshot_tiers.h"

#include "wavesan/abi/option_units.h"
#include "wavesan/report/quiet_write.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace wavesan::hsa {

namespace {

/// What the option leaves open: a quarter of the memory that the host has to spare.
uint64_t quarterOfAvailable() {
  std::ifstream info("/proc/meminfo");
  std::string word;
  while (info >> word)
    if (uint64_t kilobytes = 0; word == "MemAvailable:" && info >> kilobytes)
      return kilobytes * 1024 / 4;
  return 1ull << 30;
}

constexpr size_t indexOf(Tier tier) { return size_t(tier); }

} // namespace

TierBudgets::TierBudgets(const abi::Options &options)
    : Limits{abi::bytesOfMebibytes(options.replay_device_mb), abi::bytesOfMebibytes(options.replay_pinned_mb),
             abi::bytesOfMebibytes(options.replay_budget_mb), abi::bytesOfMebibytes(options.replay_file_mb)},
      Automatic(options.replay_budget_mb == 0) {}

uint64_t TierBudgets::limit(Tier tier) const {
  return tier == Tier::Pageable && Automatic ? quarterOfAvailable() : Limits[indexOf(tier)];
}

TierBytes TierBudgets::room() const {
  TierBytes room{};
  for (Tier tier : kAllTiers)
    room[indexOf(tier)] = limit(tier);
  std::lock_guard lock(Mutex);
  for (size_t i = 0; i < kTiers; ++i)
    room[i] -= std::min(room[i], Used[i]);
  return room;
}

bool TierBudgets::take(Tier tier, uint64_t bytes) {
  const uint64_t most = limit(tier);
  std::lock_guard lock(Mutex);
  uint64_t &used = Used[indexOf(tier)];
  if (bytes > most || used > most - bytes)
    return false;
  used += bytes;
  if (tier == Tier::Pageable)
    Pages.keepAtMost(most - used);
  return true;
}

void TierBudgets::give(Tier tier, uint64_t bytes) {
  std::lock_guard lock(Mutex);
  Used[indexOf(tier)] -= bytes;
}

SnapshotFile::~SnapshotFile() { clear(); }

void SnapshotFile::clear() {
  if (Fd >= 0)
    close(Fd);
  Fd = -1;
  Size = 0;
}

bool SnapshotFile::open(std::string &error) {
  Fd = ::open(Directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (Fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) { // some file systems have no files without a name
    std::string name = Directory + "/wavesan-snapshot-XXXXXX";
    Fd = mkostemp(name.data(), O_CLOEXEC);
    if (Fd >= 0)
      unlink(name.c_str());
  }
  if (Fd >= 0)
    return true;
  error = "no file in " + Directory + ": " + std::strerror(errno);
  return false;
}

bool SnapshotFile::append(std::string_view bytes, std::string &error) {
  if (Fd < 0 && !open(error))
    return false;
  if (const int number = report::writeQuietly(Fd, bytes)) {
    error = "cannot write to a file in " + Directory + " behind " + std::to_string(Size) +
            " bytes: " + std::strerror(number);
    return false;
  }
  Size += bytes.size();
  return true;
}

bool SnapshotFile::read(void *to, uint64_t at, uint64_t bytes, std::string &error) const {
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t n = pread(Fd, static_cast<char *>(to) + done, bytes - done, off_t(at + done));
    if (n > 0) {
      done += uint64_t(n);
      continue;
    }
    if (n < 0 && errno == EINTR)
      continue;
    error = "cannot read the snapshot's file in " + Directory + ": " +
            (n < 0 ? std::strerror(errno) : "it is shorter than it was");
    return false;
  }
  return true;
}

std::string snapshotDirectory(const abi::Options &options) {
  if (!options.replay_directory.empty())
    return options.replay_directory;
  std::error_code ec;
  const std::filesystem::path path = std::filesystem::temp_directory_path(ec);
  return ec ? "/tmp" : path.string();
}

} // namespace wavesan::hsa
