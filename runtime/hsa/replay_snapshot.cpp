// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay_snapshot.h"

#include "wavesan/capsule/capsule.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <new>

namespace wavesan::hsa {

namespace {

/// What goes to a file passes through so much host memory.
constexpr uint64_t kBounce = 1 << 20;

/// Nanoseconds per MiB of the last snapshot, by tier; before the first one a slow 1 GB/s, of files a fifth of that.
std::atomic<uint64_t> NanosecondsPerMiB[kTiers] = {1'048'576, 1'048'576, 1'048'576, 5'242'880};

class Stopwatch {
public:
  uint64_t nanoseconds() const {
    return uint64_t(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - Begin).count());
  }

private:
  std::chrono::steady_clock::time_point Begin = std::chrono::steady_clock::now();
};

/// Of `bytes`, what goes to a tier that has `room`.
uint64_t shareOf(uint64_t bytes, uint64_t room, bool whole) {
  return bytes <= room ? bytes : whole ? 0 : room / Snapshot::kChunk * Snapshot::kChunk;
}

} // namespace

bool Snapshot::read(void *to, uint64_t from, uint64_t bytes, std::string &error) const {
  const hsa_status_t status = Runtime.core.hsa_memory_copy_fn(to, reinterpret_cast<const void *>(from), bytes);
  if (status == HSA_STATUS_SUCCESS)
    return true;
  error = "memory cannot be read (" + Runtime.statusText(status) + ")";
  return false;
}

MemoryStep Snapshot::plan(const std::vector<DispatchStores> &dispatches) {
  std::vector<MemoryMap::LiveRange> live = Memory.live();
  if (LeftOut && !Whole)
    std::erase_if(live, LeftOut);
  Tracked = 0;
  for (const MemoryMap::LiveRange &range : live)
    Tracked += range.bytes;
  std::vector<bool> chosen(live.size(), dispatches.empty());
  for (const DispatchStores &d : dispatches) {
    const auto written =
        d.stores ? writableRanges(live, *d.stores, static_cast<const uint8_t *>(d.arguments), d.argumentBytes)
                 : std::nullopt;
    if (!written) {
      chosen.assign(live.size(), true);
      break;
    }
    size_t i = 0; // both are in the order of addresses
    for (const MemoryMap::LiveRange &range : *written) {
      while (live[i].begin != range.begin || live[i].number != range.number || live[i].kind != range.kind)
        ++i;
      chosen[i] = true;
    }
  }
  Like = nullptr;
  Planned.clear();
  for (size_t i = 0; i < live.size(); ++i)
    if (chosen[i])
      Planned.push_back(live[i]);
  return predict();
}

MemoryStep Snapshot::plan(const Snapshot &like) {
  Like = &like;
  Planned.clear();
  for (const Saved &saved : like.Regions)
    Planned.push_back(saved.range);
  Tracked = like.Tracked;
  return predict();
}

MemoryStep Snapshot::predict() {
  MemoryStep step;
  step.tracked = Tracked;
  step.regions = Planned.size();
  TierBytes room = Budgets.room();
  for (const MemoryMap::LiveRange &range : Planned) {
    step.bytes += range.bytes;
    uint64_t left = range.bytes;
    for (Tier tier : kAllTiers) {
      if (!usable(tier))
        continue;
      const uint64_t share = shareOf(left, room[size_t(tier)], Whole);
      room[size_t(tier)] -= share;
      step.tiers[size_t(tier)] += share;
      left -= share;
    }
    step.fits = step.fits && left == 0;
  }
  for (size_t i = 0; i < kTiers; ++i)
    step.nanoseconds += (step.tiers[i] >> 20) * NanosecondsPerMiB[i].load(std::memory_order_relaxed);
  return step;
}

bool Snapshot::allocate(Piece &piece, std::string &error) const {
  if (piece.tier == Tier::Pageable) {
    SnapshotPages::Block block = Budgets.pages().take(piece.bytes);
    piece.memory = block.memory.release();
    piece.usedBefore = std::move(block.touched);
    if (!piece.memory)
      error = "no host memory for " + std::to_string(piece.bytes) + " bytes";
    return piece.memory != nullptr;
  }
  void *memory = nullptr;
  hsa_status_t status = Runtime.amd.hsa_amd_memory_pool_allocate_fn(
      piece.tier == Tier::Device ? Agent->shadow : Agent->control, piece.bytes, 0, &memory);
  if (status == HSA_STATUS_SUCCESS && piece.tier == Tier::Pinned) {
    status = Runtime.amd.hsa_amd_agents_allow_access_fn(1, &Agent->agent, nullptr, memory);
    if (status != HSA_STATUS_SUCCESS)
      Runtime.amd.hsa_amd_memory_pool_free_fn(memory);
  }
  if (status != HSA_STATUS_SUCCESS) {
    error = std::string("no ") + (piece.tier == Tier::Device ? "device" : "pinned host") + " memory for " +
            std::to_string(piece.bytes) + " bytes (" + Runtime.statusText(status) + ")";
    return false;
  }
  piece.memory = static_cast<uint8_t *>(memory);
  return true;
}

/// Memory of a snapshot that is over, while a dispatch that began before may still make copies there.
struct Snapshot::InUse {
  const Api *runtime;
  TierBudgets *budgets;
  std::vector<Saved> regions;
  std::unique_ptr<WriteRecording> recording;

  struct List {
    std::mutex mutex;
    std::vector<InUse> all;
  };
  static List &list() {
    static List &list = *new List; // dispatches run until the process ends
    return list;
  }
};

void Snapshot::givePages(TierBudgets &budgets, const Piece &piece) {
  SnapshotPages::Block block{SnapshotPages::Memory(piece.memory), piece.bytes, piece.usedBefore};
  block.touched.resize((piece.bytes + kChunk - 1) / kChunk);
  for (size_t i = 0; i < block.touched.size(); ++i)
    block.touched[i] = block.touched[i] || piece.isCopied(piece.offset + i * kChunk);
  budgets.pages().give(std::move(block));
}

void Snapshot::release(const Api &api, TierBudgets &budgets, const std::vector<Saved> &regions) {
  for (const Saved &saved : regions)
    for (const Piece &piece : saved.pieces) {
      if (piece.tier == Tier::Pageable)
        givePages(budgets, piece);
      else if (piece.memory)
        api.amd.hsa_amd_memory_pool_free_fn(piece.memory);
      budgets.give(piece.tier, piece.bytes);
    }
}

void Snapshot::releaseUnused(const Api &api) {
  InUse::List &list = InUse::list();
  std::lock_guard lock(list.mutex);
  std::erase_if(list.all, [&](const InUse &entry) {
    if (entry.runtime != &api || entry.recording->inUse())
      return false;
    release(*entry.runtime, *entry.budgets, entry.regions);
    return true;
  });
}

void Snapshot::clear() {
  if (Recording)
    Recording->stop();
  if (Recording && Recording->inUse()) {
    InUse::List &list = InUse::list();
    std::lock_guard lock(list.mutex);
    list.all.push_back({&Runtime, &Budgets, std::move(Regions), std::move(Recording)});
  } else {
    release(Runtime, Budgets, Regions);
  }
  Recording.reset();
  Regions.clear();
  Map.reset();
  States.clear();
  File.clear();
  releaseUnused(Runtime);
}

std::vector<bool> Snapshot::recordable() const {
  if ((!Recorder && !Notes) || Whole || Like)
    return std::vector<bool>(Planned.size());
  std::vector<bool> good = reachedByOneAddress(Planned, Memory.live());
  for (size_t i = 0; i < Planned.size(); ++i)
    good[i] = good[i] && !(Unknown && Unknown(Planned[i]));
  return good;
}

bool Snapshot::savePart(const MemoryMap::LiveRange &range, Piece &piece, uint64_t &copied, std::string &error) {
  if (!piece.memory)
    piece.inFile = File.size();
  if (piece.memory && !piece.state) {
    copied += piece.bytes;
    return read(piece.memory, range.begin + piece.offset, piece.bytes, error);
  }
  if (piece.memory) {
    for (uint64_t at = 0; at < piece.bytes; at += kChunk) {
      const uint64_t bytes = std::min(kChunk, piece.bytes - at);
      if (!piece.isTouched(piece.offset + at))
        continue;
      copied += bytes;
      if (!read(piece.memory + at, range.begin + piece.offset + at, bytes, error))
        return false;
    }
    return true;
  }
  copied += piece.bytes;
  std::vector<char> bounce(std::min(kBounce, piece.bytes));
  for (uint64_t at = 0; at < piece.bytes; at += kBounce) {
    const uint64_t bytes = std::min(kBounce, piece.bytes - at);
    if (!read(bounce.data(), range.begin + piece.offset + at, bytes, error))
      return false;
    if (!File.append({bounce.data(), bytes}, error)) {
      FileFailed = true;
      return false;
    }
  }
  return true;
}

bool Snapshot::savePiece(const Saved &saved, Piece &piece, bool recorded, Saving &saving, std::string &error) {
  if (recorded) {
    piece.state = Recording->add(saved.range.begin + piece.offset, piece.bytes, piece.memory);
    if (piece.memory)
      return true; // copied when it is written
    // Writing to a file may fail, and nobody could decline any more.
    piece.inFile = File.size();
    Piece all = piece;
    all.state = nullptr;
    return savePart(saved.range, all, saving.copied[size_t(piece.tier)], error);
  }
  if (const Saved *like = Like ? &Like->Regions[Regions.size() - 1] : nullptr;
      like && !like->pieces.empty() && (like->pieces[0].state || like->pieces[0].noted)) {
    const uint64_t chunks = (piece.bytes + kChunk - 1) / kChunk;
    std::atomic<uint8_t> *states = States.emplace_back(std::make_unique<std::atomic<uint8_t>[]>(chunks)).get();
    for (uint64_t i = 0; i < chunks; ++i)
      states[i] = isTouched(*like, piece.offset + i * kChunk) ? abi::WriteRecord::Touched : abi::WriteRecord::Untouched;
    piece.state = states;
  }
  return savePart(saved.range, piece, saving.copied[size_t(piece.tier)], error);
}

bool Snapshot::saveRegion(const MemoryMap::LiveRange &range, bool recorded, Saving &saving, std::string &error) {
  Saved &saved = Regions.emplace_back(Saved{range, {}});
  uint64_t at = 0;
  for (Tier tier : kAllTiers) {
    Piece piece{.tier = tier, .offset = at, .bytes = shareOf(range.bytes - at, saving.room[size_t(tier)], Whole)};
    if (!usable(tier) || piece.bytes == 0)
      continue;
    // Another snapshot may have been faster, and memory may be less than the budget: then the next tier has it.
    if (!Budgets.take(tier, piece.bytes)) {
      saving.room[size_t(tier)] = 0;
      continue;
    }
    if (tier != Tier::File && !allocate(piece, error)) {
      Budgets.give(tier, piece.bytes);
      saving.room[size_t(tier)] = 0;
      continue;
    }
    const Stopwatch watch;
    saved.pieces.push_back(piece);
    if (!savePiece(saved, saved.pieces.back(), recorded, saving, error))
      return false;
    saving.nanoseconds[size_t(tier)] += watch.nanoseconds();
    saving.room[size_t(tier)] -= piece.bytes;
    at += piece.bytes;
    if (at == range.bytes)
      return true;
  }
  return false;
}

const char *Snapshot::save(MemoryStep &taken, std::string &error) {
  const Stopwatch watch;
  taken = {};
  clear();
  FileFailed = false;
  const std::vector<bool> recorded = recordable();
  if (Recorder && std::find(recorded.begin(), recorded.end(), true) != recorded.end())
    Recording = std::make_unique<WriteRecording>(*Recorder);
  Saving saving{.room = Budgets.room()};
  for (size_t i = 0; i < Planned.size(); ++i)
    if (!saveRegion(Planned[i], Recorder && recorded[i], saving, error)) {
      clear();
      if (!error.empty())
        return FileFailed ? kDeclineFile : kDeclineSnapshot;
      error = "it does not fit into the budgets";
      return kDeclineBudget;
    }
  error.clear(); // where there was no memory there was another tier
  if (Recording)
    Recording->start();
  else if (Notes)
    makeMap(recorded);
  for (const Saved &saved : Regions)
    for (const Piece &piece : saved.pieces) {
      taken.bytes += piece.bytes;
      taken.tiers[size_t(piece.tier)] += piece.bytes;
    }
  taken.regions = Regions.size();
  taken.tracked = Tracked;
  taken.copied = copiedBytes();
  taken.nanoseconds = watch.nanoseconds();
  for (size_t i = 0; i < kTiers; ++i)
    if (saving.copied[i] >= 1 << 20)
      NanosecondsPerMiB[i].store(saving.nanoseconds[i] / (saving.copied[i] >> 20), std::memory_order_relaxed);
  return nullptr;
}

uint64_t Snapshot::copiedBytes() const {
  uint64_t copied = 0;
  for (const Saved &saved : Regions)
    for (const Piece &piece : saved.pieces)
      copied += copiedBytes(piece);
  return copied;
}

uint64_t Snapshot::copiedBytes(const Piece &piece) {
  if (!piece.state || !piece.memory)
    return piece.bytes;
  uint64_t copied = 0;
  for (uint64_t at = 0; at < piece.bytes; at += kChunk)
    copied += piece.isTouched(piece.offset + at) ? std::min(kChunk, piece.bytes - at) : 0;
  return copied;
}

bool Snapshot::isTouched(const Saved &saved, uint64_t at) {
  for (const Piece &piece : saved.pieces)
    if (at - piece.offset < piece.bytes)
      return piece.isTouched(at);
  return true;
}

const uint8_t *Snapshot::savedBytes(const Saved &saved, uint64_t at, uint64_t bytes, uint8_t *scratch,
                                    std::string &error) const {
  for (const Piece &piece : saved.pieces) {
    if (at - piece.offset >= piece.bytes)
      continue;
    const uint64_t in = at - piece.offset;
    if (piece.memory && !piece.isCopied(at)) { // there is no copy yet, and none is needed
      if (isOfCpuAgent())
        return reinterpret_cast<const uint8_t *>(saved.range.begin + at);
      return read(scratch, saved.range.begin + at, bytes, error) ? scratch : nullptr;
    }
    if (piece.tier == Tier::Pinned || piece.tier == Tier::Pageable)
      return piece.memory + in;
    const bool done = piece.tier == Tier::File
                          ? File.read(scratch, piece.inFile + in, bytes, error)
                          : read(scratch, reinterpret_cast<uint64_t>(piece.memory) + in, bytes, error);
    return done ? scratch : nullptr;
  }
  error = "not saved";
  return nullptr;
}

uint64_t Snapshot::Piece::nextNoted(uint64_t at, uint64_t end) const {
  const uint64_t first = (at - offset) >> abi::kTouchChunkLog2, behind = abi::touchChunks(end - offset);
  const void *found = std::memchr(noted + first, 1, size_t(behind - first));
  if (!found)
    return end;
  return std::min(end, offset + (uint64_t(static_cast<const uint8_t *>(found) - noted) << abi::kTouchChunkLog2));
}

Snapshot::Piece::Part Snapshot::Piece::touchedWithin(uint64_t at, uint64_t most) const {
  const uint64_t end = std::min(at + most, offset + bytes);
  if (!noted)
    return {at, end};
  const uint64_t begin = nextNoted(at, end);
  uint64_t behind = begin;
  while (behind < end && noted[(behind - offset) >> abi::kTouchChunkLog2] != 0)
    behind += abi::kTouchChunk;
  return {begin, std::min(behind, end)};
}

void Snapshot::makeMap(const std::vector<bool> &recorded) {
  std::vector<TouchMap::Region> regions;
  for (size_t i = 0; i < Regions.size(); ++i)
    if (recorded[i])
      regions.push_back({Regions[i].range.begin, Regions[i].range.bytes});
  if (regions.empty() || !Agent)
    return;
  Map = TouchMap::make(Runtime, *Agent, Budgets, regions);
  if (!Map)
    return;
  size_t next = 0;
  for (size_t i = 0; i < Regions.size(); ++i) {
    if (!recorded[i])
      continue;
    for (Piece &piece : Regions[i].pieces)
      piece.noted = Map->chunksOf(next) + (piece.offset >> abi::kTouchChunkLog2);
    ++next;
  }
}
static_assert(Snapshot::kChunk % abi::kTouchChunk == 0);

void Snapshot::passEnded(bool noted) {
  if (Map)
    noted ? Map->read() : Map->noteEverything();
}

void Snapshot::abandonMap() {
  if (Map)
    Map->abandon();
}

bool Snapshot::restorePart(const Saved &saved, const Piece &piece, Piece::Part part, MemoryStep &taken,
                           std::string &error) {
  const uint64_t at = part.begin, bytes = part.end - at, address = saved.range.begin + at;
  taken.compared += bytes;
  if (piece.state && piece.memory && isOfCpuAgent()) {
    const uint8_t *before = piece.memory + (at - piece.offset);
    auto *now = reinterpret_cast<uint8_t *>(address);
    if (std::memcmp(now, before, bytes) == 0)
      return true;
    std::memcpy(now, before, bytes);
    taken.bytes += bytes;
    return true;
  }
  Now.resize(kChunk);
  Scratch.resize(kChunk);
  const uint8_t *before = savedBytes(saved, at, bytes, Scratch.data(), error);
  if (!before || !read(Now.data(), address, bytes, error))
    return false;
  if (std::memcmp(Now.data(), before, bytes) == 0)
    return true;
  // Pages that the kernel did not write stay as they are: constant and read-only memory is never written.
  const hsa_status_t status = Runtime.core.hsa_memory_copy_fn(reinterpret_cast<void *>(address), before, bytes);
  if (status != HSA_STATUS_SUCCESS) {
    error = "memory cannot be written (" + Runtime.statusText(status) + ")";
    return false;
  }
  taken.bytes += bytes;
  return true;
}

bool Snapshot::restore(MemoryStep &taken, std::string &error, const Snapshot *later) {
  const Stopwatch watch;
  taken = {};
  for (size_t i = 0; i < Regions.size(); ++i) {
    const Saved &saved = Regions[i];
    if (!Memory.isLive(saved.range))
      continue;
    const uint64_t before = taken.bytes;
    for (const Piece &piece : saved.pieces) {
      const uint64_t end = piece.offset + piece.bytes;
      for (uint64_t chunk = piece.offset; chunk < end; chunk += kChunk) {
        if (piece.noted) // few of many are
          chunk = piece.chunkOf(piece.nextNoted(chunk, end));
        if (!piece.isTouched(chunk) || (later && isTouched(later->Regions[i], chunk)))
          continue;
        const uint64_t behind = std::min(chunk + kChunk, end);
        for (Piece::Part part{chunk, chunk}; part.end < behind;) {
          part = piece.touchedWithin(part.end, behind - part.end);
          if (!part.empty() && !restorePart(saved, piece, part, taken, error))
            return false;
        }
      }
    }
    taken.regions += taken.bytes != before;
  }
  taken.copied = copiedBytes();
  taken.nanoseconds = watch.nanoseconds();
  return true;
}

uint64_t Snapshot::digest(std::string &error, const OfRange &wanted) {
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
