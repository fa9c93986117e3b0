// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host memory that the device sees at another address (hipHostRegister): one piece of memory, whichever address a
// command names. Commands are compared by the host's.
#ifndef WAVESAN_HIP_HOST_ALIASES_H
#define WAVESAN_HIP_HOST_ALIASES_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace wavesan::hip {

/// Not thread-safe.
class HostAliases {
public:
  /// From here on the device sees the host's memory at `device`.
  void add(uint64_t host, uint64_t device, uint64_t bytes) {
    if (host == device || bytes == 0)
      return;
    // What the device sees there now, it sees nothing else at.
    for (auto it = firstBehind(device); it != Blocks.end() && it->first < device + bytes;)
      it = Blocks.erase(it);
    Blocks[device] = {bytes, host};
    Registered.insert({host, {device, bytes}}); // behind those of the same host address
  }
  /// One registration of the host's memory ends, of several the oldest. Others may have the same device address.
  void remove(uint64_t host) {
    auto [first, last] = Registered.equal_range(host);
    if (first == last)
      return;
    const auto [device, gone] = first->second;
    first = Registered.erase(first);
    uint64_t left = 0;
    for (auto it = first; it != last; ++it)
      if (it->second.first == device)
        left = std::max(left, it->second.second);
    auto block = Blocks.find(device);
    if (block == Blocks.end() || block->second.host != host)
      return; // something else is there by now
    if (left)
      block->second.bytes = std::max(left, gone == block->second.bytes ? left : block->second.bytes);
    else
      Blocks.erase(block);
  }
  bool empty() const { return Blocks.empty(); }

  /// `piece(begin, end)` for the bytes [begin, end), cut where blocks begin and end, by the host's addresses.
  template <class Piece> void forEach(uint64_t begin, uint64_t end, Piece &&piece) const {
    for (auto it = firstBehind(begin); begin < end; ++it) {
      const uint64_t stop = it == Blocks.end() ? end : std::min(end, std::max(begin, it->first));
      if (begin < stop)
        piece(begin, stop);
      if (stop == end)
        return;
      const uint64_t to = std::min(end, it->first + it->second.bytes);
      piece(it->second.host + (stop - it->first), it->second.host + (to - it->first));
      begin = to;
    }
  }
  /// Pieces with `begin` and `end`, by the host's addresses.
  template <class Run> std::vector<Run> byHost(const Run *runs, size_t count) const {
    std::vector<Run> all;
    for (const Run *r = runs; r != runs + count; ++r)
      forEach(r->begin, r->end, [&](uint64_t begin, uint64_t end) {
        Run &run = all.emplace_back(*r);
        run.begin = begin;
        run.end = end;
      });
    return all;
  }
  uint64_t hostAddress(uint64_t address) const {
    auto it = firstBehind(address);
    return it != Blocks.end() && it->first <= address ? it->second.host + (address - it->first) : address;
  }

private:
  struct Block {
    uint64_t bytes, host;
  };
  using Map = std::map<uint64_t, Block>;
  /// The first block that ends behind the address.
  Map::const_iterator firstBehind(uint64_t address) const {
    auto it = Blocks.upper_bound(address);
    if (it != Blocks.begin() && std::prev(it)->first + std::prev(it)->second.bytes > address)
      --it;
    return it;
  }
  Map Blocks;                                                        ///< by the device's address; they do not overlap
  std::multimap<uint64_t, std::pair<uint64_t, uint64_t>> Registered; ///< host address -> device address, bytes
};

} // namespace wavesan::hip

#endif // WAVESAN_HIP_HOST_ALIASES_H
