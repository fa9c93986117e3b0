// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lies at a device address, by number of allocation instead of by address, so that reports repeat.
//
// A race is looked up after its dispatch, when the program may have freed the memory and received the same addresses
// again. So every range knows during which dispatches it lived, and ranges that have gone are kept for a while.
#ifndef WAVESAN_HSA_MEMORY_MAP_H
#define WAVESAN_HSA_MEMORY_MAP_H

#include "wavesan/report/race.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace wavesan::hsa {

/// Thread-safe. "Now" is the number of the latest dispatch, read from a counter that the owner of the map keeps.
class MemoryMap {
public:
  using Kind = report::MemoryPlace::Kind;
  explicit MemoryMap(const std::atomic<uint64_t> &latestDispatch) : Latest(latestDispatch) {}

  /// A new range; it ends an older one that begins at the same address. Returns its number among those of its kind.
  uint64_t add(Kind kind, const void *begin, uint64_t bytes) { return add(kind, begin, bytes, begin); }
  /// `handle`: the address that remove() will name where the device sees the memory at another one.
  uint64_t add(Kind kind, const void *begin, uint64_t bytes, const void *handle);
  /// A range of a program that is being replayed, with the number that it had there.
  void addNumbered(Kind kind, uint64_t begin, uint64_t bytes, uint64_t number);
  /// A variable of an executable.
  void addVariable(uint64_t executable, std::string name, uint64_t address, uint64_t bytes);

  /// Ends the range of this kind and handle, of several the oldest, as unlocking does. To be called before the memory is really
  /// freed, because then the address may be allocated again at once.
  void remove(Kind kind, const void *handle);
  void removeExecutable(uint64_t executable);
  /// Takes the last remove() of this address back: the runtime refused to free it.
  void restore(Kind kind, const void *handle);

  /// A range that is alive now.
  struct LiveRange {
    Kind kind;
    uint64_t begin, bytes, number;
    std::string name = {}; ///< of a variable
    uint64_t host = begin; ///< where the host sees it
  };
  /// Everything but kernel arguments, in the order of addresses.
  std::vector<LiveRange> live() const;
  bool isLive(const LiveRange &range) const;
  /// Bytes of them, together.
  uint64_t liveBytes() const;

  /// Memory has come to the agents by ways that this map does not follow.
  void sawUntracked() { Untracked.store(true, std::memory_order_relaxed); }
  bool hasUntracked() const { return Untracked.load(std::memory_order_relaxed); }

  /// `address` lies in one of live(): it is the device's, or of registered memory the host's.
  bool knows(uint64_t address) const {
    const Kind kind = find(address, ~0ull).kind;
    return kind != Kind::Unknown && kind != Kind::KernelArguments;
  }
  /// What lay at `address` while the dispatch ran: the device's, or of registered memory the host's.
  report::MemoryPlace find(uint64_t address, uint64_t dispatch) const;

private:
  struct Range {
    Kind kind;
    uint64_t begin, bytes;
    uint64_t handle;
    uint64_t number;
    uint64_t executable;
    uint64_t born;         ///< dispatches up to this one came before it
    uint64_t died = ~0ull; ///< dispatches up to this one may have used it
    std::string name;
  };
  using Ranges = std::multimap<uint64_t, Range>; ///< by first address
  static report::MemoryPlace placeOf(const Range &range, uint64_t address);
  static bool contains(const Range &range, uint64_t address, uint64_t dispatch);
  void insert(Range range);
  Ranges::iterator bury(Ranges::iterator it);

  const std::atomic<uint64_t> &Latest;
  mutable std::mutex Mutex;
  Ranges Live;
  std::deque<Range> Gone; ///< the latest in front
  std::map<Kind, uint64_t> Numbers;
  std::atomic<bool> Untracked{false};
  uint64_t LongestLive = 0; ///< no live range is longer
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_MEMORY_MAP_H
