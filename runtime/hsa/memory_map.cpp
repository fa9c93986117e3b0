// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory_map.h"

#include <algorithm>

#include <utility>

namespace wavesan::hsa {

namespace {
/// Ranges that are remembered after their end. Only dispatches that have not been drained can ask for them, and of
/// those there are few.
constexpr size_t kMaxGone = 4096;
} // namespace

void MemoryMap::insert(Range range) {
  for (auto [it, end] = Live.equal_range(range.begin); it != end;)
    it = it->second.kind == range.kind ? bury(it) : std::next(it);
  LongestLive = std::max(LongestLive, range.bytes);
  Live.emplace(range.begin, std::move(range));
}

MemoryMap::Ranges::iterator MemoryMap::bury(Ranges::iterator it) {
  it->second.died = Latest.load(std::memory_order_acquire);
  Gone.push_front(std::move(it->second));
  if (Gone.size() > kMaxGone)
    Gone.pop_back();
  return Live.erase(it);
}

uint64_t MemoryMap::add(Kind kind, const void *begin, uint64_t bytes, const void *handle) {
  std::lock_guard lock(Mutex);
  uint64_t number = ++Numbers[kind];
  insert({.kind = kind,
          .begin = reinterpret_cast<uint64_t>(begin),
          .bytes = bytes,
          .handle = reinterpret_cast<uint64_t>(handle),
          .number = number,
          .executable = 0,
          .born = Latest.load(std::memory_order_acquire),
          .name = {}});
  return number;
}

void MemoryMap::addNumbered(Kind kind, uint64_t begin, uint64_t bytes, uint64_t number) {
  std::lock_guard lock(Mutex);
  insert({.kind = kind,
          .begin = begin,
          .bytes = bytes,
          .handle = begin,
          .number = number,
          .executable = 0,
          .born = Latest.load(std::memory_order_acquire),
          .name = {}});
}

void MemoryMap::addVariable(uint64_t executable, std::string name, uint64_t address, uint64_t bytes) {
  std::lock_guard lock(Mutex);
  insert({.kind = Kind::DeviceVariable,
          .begin = address,
          .bytes = bytes,
          .handle = address,
          .number = 0,
          .executable = executable,
          .born = Latest.load(std::memory_order_acquire),
          .name = std::move(name)});
}

void MemoryMap::remove(Kind kind, const void *handle) {
  std::lock_guard lock(Mutex);
  auto matches = [&](const Range &r) { return r.kind == kind && r.handle == reinterpret_cast<uint64_t>(handle); };
  // Only registered memory may have another handle than its address, and there is little of it.
  auto [it, end] = kind == Kind::RegisteredHost ? std::pair(Live.begin(), Live.end())
                                                : Live.equal_range(reinterpret_cast<uint64_t>(handle));
  auto found = Live.end();
  for (; it != end; ++it)
    if (matches(it->second) && (found == Live.end() || it->second.number < found->second.number))
      found = it;
  if (found != Live.end())
    bury(found);
}

void MemoryMap::restore(Kind kind, const void *handle) {
  std::lock_guard lock(Mutex);
  for (auto it = Gone.begin(); it != Gone.end(); ++it)
    if (it->kind == kind && it->handle == reinterpret_cast<uint64_t>(handle)) {
      it->died = ~0ull;
      Live.emplace(it->begin, std::move(*it));
      Gone.erase(it);
      return;
    }
}

void MemoryMap::removeExecutable(uint64_t executable) {
  std::lock_guard lock(Mutex);
  for (auto it = Live.begin(); it != Live.end();)
    it = it->second.kind == Kind::DeviceVariable && it->second.executable == executable ? bury(it) : std::next(it);
}

bool MemoryMap::contains(const Range &range, uint64_t address, uint64_t dispatch) {
  return address - range.begin < range.bytes && range.born < dispatch && dispatch <= range.died;
}

report::MemoryPlace MemoryMap::placeOf(const Range &range, uint64_t address) {
  report::MemoryPlace place;
  place.kind = range.kind;
  place.number = range.number;
  place.bytes = range.bytes;
  place.offset = address - range.begin;
  place.name = range.name;
  return place;
}

std::vector<MemoryMap::LiveRange> MemoryMap::live() const {
  std::lock_guard lock(Mutex);
  std::vector<LiveRange> ranges;
  for (const auto &[begin, range] : Live)
    if (range.kind != Kind::KernelArguments && range.bytes != 0)
      ranges.push_back({range.kind, range.begin, range.bytes, range.number, range.name, range.handle});
  return ranges;
}

uint64_t MemoryMap::liveBytes() const {
  std::lock_guard lock(Mutex);
  uint64_t bytes = 0;
  for (const auto &[begin, range] : Live)
    bytes += range.kind == Kind::KernelArguments ? 0 : range.bytes;
  return bytes;
}

bool MemoryMap::isLive(const LiveRange &range) const {
  std::lock_guard lock(Mutex);
  auto [it, end] = Live.equal_range(range.begin);
  return std::any_of(it, end, [&](const auto &entry) {
    return entry.second.kind == range.kind && entry.second.number == range.number && entry.second.bytes == range.bytes;
  });
}

report::MemoryPlace MemoryMap::find(uint64_t address, uint64_t dispatch) const {
  std::lock_guard lock(Mutex);
  // Ranges of host memory may overlap; the oldest of those that hold the address speaks.
  const Range *found = nullptr;
  for (auto it = Live.upper_bound(address); it != Live.begin();) {
    --it;
    if (address - it->first >= LongestLive)
      break;
    if (contains(it->second, address, dispatch) && (!found || it->second.number < found->number))
      found = &it->second;
    if (found && found->kind != Kind::RegisteredHost)
      break;
  }
  if (found)
    return placeOf(*found, address);
  for (const Range &range : Gone)
    if (contains(range, address, dispatch))
      return placeOf(range, address);
  auto byHost = [&](const Range &range) {
    return range.kind == Kind::RegisteredHost && address - range.handle < range.bytes &&
           contains(range, range.begin + (address - range.handle), dispatch);
  };
  for (const auto &[_, range] : Live)
    if (byHost(range))
      return placeOf(range, range.begin + (address - range.handle));
  for (const Range &range : Gone)
    if (byHost(range))
      return placeOf(range, range.begin + (address - range.handle));
  return {};
}

} // namespace wavesan::hsa
