// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vector clock of stream order: which commands happen before something. One component for each stream, because the
// commands of a stream are ordered among themselves.
#ifndef WAVESAN_STREAMS_KNOWN_COMMANDS_H
#define WAVESAN_STREAMS_KNOWN_COMMANDS_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace wavesan::streams {

/// A command: the `position`th, from 1, of those put into a stream.
struct StreamPosition {
  uint64_t stream = 0, position = 0;
  bool operator==(const StreamPosition &) const = default;
};

/// A plain value. Not thread-safe.
class KnownCommands {
public:
  /// True if this command is known to have completed before.
  bool knows(StreamPosition command) const { return lastOf(command.stream) >= command.position; }
  /// The latest known position in a stream; 0: none.
  uint64_t lastOf(uint64_t stream) const {
    auto it = place(stream);
    return it != Last.end() && it->stream == stream ? it->position : 0;
  }
  void add(StreamPosition command) {
    auto it = Last.begin() + (place(command.stream) - Last.begin());
    if (it == Last.end() || it->stream != command.stream)
      Last.insert(it, command);
    else
      it->position = std::max(it->position, command.position);
  }
  void join(const KnownCommands &other) {
    Unknown = Unknown || other.Unknown;
    if (other.Last.empty() || &other == this)
      return;
    std::vector<StreamPosition> all;
    all.reserve(Last.size() + other.Last.size());
    auto a = Last.cbegin(), b = other.Last.cbegin();
    while (a != Last.cend() || b != other.Last.end()) {
      if (b == other.Last.end() || (a != Last.cend() && a->stream < b->stream)) {
        all.push_back(*a++);
      } else if (a == Last.cend() || b->stream < a->stream) {
        all.push_back(*b++);
      } else {
        all.push_back({a->stream, std::max(a->position, b->position)});
        ++a;
        ++b;
      }
    }
    Last = std::move(all);
  }
  /// True if everything that `other` knows is known here, too.
  bool contains(const KnownCommands &other) const {
    return (Unknown || !other.Unknown) &&
           std::all_of(other.Last.begin(), other.Last.end(), [&](const StreamPosition &p) { return knows(p); });
  }

  /// More may be known than is written here: a wait whose other end was not seen.
  bool unknown() const { return Unknown; }
  void setUnknown() { Unknown = true; }
  bool empty() const { return Last.empty() && !Unknown; }
  size_t size() const { return Last.size(); }

private:
  std::vector<StreamPosition>::const_iterator place(uint64_t stream) const {
    return std::lower_bound(Last.begin(), Last.end(), stream,
                            [](const StreamPosition &p, uint64_t s) { return p.stream < s; });
  }
  std::vector<StreamPosition> Last; ///< by stream
  bool Unknown = false;
};

} // namespace wavesan::streams

#endif // WAVESAN_STREAMS_KNOWN_COMMANDS_H
