// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay_snapshot.h"

#include "wavesan/capsule/capsule.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>

namespace wavesan::hsa {

namespace {

constexpr uint64_t kChunk = 64 * 1024;

/// Nanoseconds per MiB of the last snapshot; before the first one, a slow 1 GB/s.
std::atomic<uint64_t> NanosecondsPerMiB{1'048'576};

class Stopwatch {
public:
  uint64_t nanoseconds() const {
    return uint64_t(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - Begin).count());
  }

private:
  std::chrono::steady_clock::time_point Begin = std::chrono::steady_clock::now();
};

} // namespace

bool Snapshot::read(void *to, uint64_t from, uint64_t bytes, std::string &error) const {
  const hsa_status_t status = Runtime.core.hsa_memory_copy_fn(to, reinterpret_cast<const void *>(from), bytes);
  if (status == HSA_STATUS_SUCCESS)
    return true;
  error = "memory cannot be read (" + Runtime.statusText(status) + ")";
  return false;
}

MemoryStep Snapshot::plan(const std::vector<KernelStore> *stores, const void *arguments, uint64_t argumentBytes) {
  Planned = Memory.live();
  MemoryStep step;
  for (const MemoryMap::LiveRange &range : Planned)
    step.tracked += range.bytes;
  if (stores)
    if (auto written = writableRanges(Planned, *stores, static_cast<const uint8_t *>(arguments), argumentBytes))
      Planned = std::move(*written);
  Tracked = step.tracked;
  step.regions = Planned.size();
  for (const MemoryMap::LiveRange &range : Planned)
    step.bytes += range.bytes;
  step.nanoseconds = (step.bytes >> 20) * NanosecondsPerMiB.load(std::memory_order_relaxed);
  return step;
}

bool Snapshot::save(MemoryStep &taken, std::string &error) {
  const Stopwatch watch;
  taken = {};
  Regions.clear();
  for (const MemoryMap::LiveRange &range : Planned) {
    std::unique_ptr<uint8_t[]> bytes(new (std::nothrow) uint8_t[range.bytes]);
    if (!bytes)
      error = "no host memory for " + std::to_string(range.bytes) + " bytes";
    if (!bytes || !read(bytes.get(), range.begin, range.bytes, error)) {
      Regions.clear();
      return false;
    }
    taken.bytes += range.bytes;
    Regions.push_back({range, std::move(bytes)});
  }
  taken.regions = Regions.size();
  taken.tracked = Tracked;
  taken.nanoseconds = watch.nanoseconds();
  if (taken.bytes >= 1 << 20)
    NanosecondsPerMiB.store(taken.nanoseconds / (taken.bytes >> 20), std::memory_order_relaxed);
  return true;
}

bool Snapshot::restore(MemoryStep &taken, std::string &error) {
  const Stopwatch watch;
  taken = {};
  std::vector<uint8_t> now(kChunk);
  for (const Saved &saved : Regions) {
    if (!Memory.isLive(saved.range))
      continue;
    bool differs = false;
    for (uint64_t at = 0; at < saved.range.bytes; at += kChunk) {
      const uint64_t bytes = std::min(kChunk, saved.range.bytes - at);
      if (!read(now.data(), saved.range.begin + at, bytes, error))
        return false;
      if (std::memcmp(now.data(), saved.bytes.get() + at, bytes) == 0)
        continue;
      // Pages that the kernel did not write stay as they are: constant and read-only memory is never written.
      const hsa_status_t status = Runtime.core.hsa_memory_copy_fn(reinterpret_cast<void *>(saved.range.begin + at),
                                                                  saved.bytes.get() + at, bytes);
      if (status != HSA_STATUS_SUCCESS) {
        error = "memory cannot be written (" + Runtime.statusText(status) + ")";
        return false;
      }
      taken.bytes += bytes;
      differs = true;
    }
    taken.regions += differs;
  }
  taken.nanoseconds = watch.nanoseconds();
  return true;
}

uint64_t Snapshot::digest(std::string &error, const std::function<bool(const MemoryMap::LiveRange &)> &wanted) {
  std::vector<uint8_t> now(kChunk);
  capsule::RegionDigest hash;
  for (const Saved &saved : Regions) {
    if (!Memory.isLive(saved.range) || (wanted && !wanted(saved.range)))
      continue;
    for (uint64_t at = 0; at < saved.range.bytes; at += kChunk) {
      const uint64_t bytes = std::min(kChunk, saved.range.bytes - at);
      if (!read(now.data(), saved.range.begin + at, bytes, error))
        return 0;
      hash.add(now.data(), bytes);
    }
  }
  return hash.value();
}

} // namespace wavesan::hsa
