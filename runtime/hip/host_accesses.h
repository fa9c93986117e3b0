// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses of the host's instrumented code while commands are under way, gathered until the next thing that could
// change the order between host and commands: all of them follow and precede the same commands.
#ifndef WAVESAN_HIP_HOST_ACCESSES_H
#define WAVESAN_HIP_HOST_ACCESSES_H

#include "command_checker.h"

#include "wavesan/abi/host_watch.h"

#include <map>
#include <unordered_map>
#include <vector>

namespace wavesan::hip {

/// Not thread-safe. At most kMaxRuns pieces are kept; what exceeds that is counted.
class HostAccesses {
public:
  static constexpr size_t kMaxRuns = 4096, kMaxPlaces = 4096;

  /// `from`: return address of the access, which stands for its line where `bits` hold no position. `calls` is asked
  /// when that is new.
  template <class GetCalls> void add(uint64_t address, uint64_t bytes, uint32_t bits, uint64_t from, GetCalls &&calls) {
    if (bits & (abi::kHostAcquire | abi::kHostRelease))
      addPlace(address, bits);
    const uint32_t position = bits >> abi::kHostPositionShift;
    Line &line = Lines[{position ? position : from, bits & 0xffu}];
    std::vector<streams::Range> &runs = line.runs;
    if (!runs.empty() && runs.back().begin <= address && address <= runs.back().end) { // loops go upwards
      runs.back().end = std::max(runs.back().end, address + bytes);
      return;
    }
    if (Runs >= kMaxRuns) {
      ++Lost;
      return;
    }
    ++Runs;
    if (!line.calls)
      line.calls = calls();
    runs.push_back({address, address + bytes, uint8_t(bits)});
  }

  /// `visit(calls, ranges)` for each line; they are forgotten.
  template <class Visit> void take(Visit &&visit) {
    for (auto &[_, line] : Lines)
      visit(line.calls, std::move(line.runs));
    Lines.clear();
    Runs = 0;
  }
  bool empty() const { return Lines.empty(); }
  /// Locations through which the host may have been ordered with commands, by address.
  std::vector<abi::SyncPlace> places() const {
    std::vector<abi::SyncPlace> all;
    for (const auto &[_, place] : Places)
      all.push_back(place);
    return all;
  }
  /// The host has waited for everything.
  void forgetPlaces() { Places.clear(); }
  uint64_t lost() const { return Lost; }

private:
  void addPlace(uint64_t address, uint32_t bits) {
    if (Places.size() >= kMaxPlaces && !Places.contains(address)) {
      ++Lost;
      return;
    }
    abi::SyncPlace &p = Places.try_emplace(address, abi::SyncPlace{address, false, false, false}).first->second;
    p.acquires = p.acquires || (bits & abi::kHostAcquire) != 0;
    p.releases = p.releasesToHost = p.releases || (bits & abi::kHostRelease) != 0;
  }
  struct Line {
    streams::Calls calls;
    std::vector<streams::Range> runs;
  };
  std::map<std::pair<uint64_t, uint32_t>, Line> Lines; ///< by position or return address, and kind of access
  std::map<uint64_t, abi::SyncPlace> Places;
  size_t Runs = 0;
  uint64_t Lost = 0;
};

} // namespace wavesan::hip

#endif // WAVESAN_HIP_HOST_ACCESSES_H
