// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef WAVESAN_STREAMS_SYNC_PLACES_H
#define WAVESAN_STREAMS_SYNC_PLACES_H

#include "wavesan/abi/stream_check.h"

#include <algorithm>
#include <vector>

namespace wavesan::streams {

inline void sortByAddress(std::vector<abi::SyncPlace> &places) {
  std::sort(places.begin(), places.end(), [](const auto &a, const auto &b) { return a.address < b.address; });
}

/// Whether an atomic of one may have ordered it with the other. Both by address. `host`: one is the host.
inline bool mayBeOrderedByAtomics(const std::vector<abi::SyncPlace> &a, const std::vector<abi::SyncPlace> &b,
                                  bool host) {
  auto publishes = [&](const abi::SyncPlace &p) { return host ? p.releasesToHost : p.releases; };
  auto i = a.begin(), j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (i->address < j->address)
      ++i;
    else if (j->address < i->address)
      ++j;
    else if ((publishes(*i) && j->acquires) || (publishes(*j) && i->acquires))
      return true;
    else
      ++i, ++j;
  }
  return false;
}

} // namespace wavesan::streams

#endif // WAVESAN_STREAMS_SYNC_PLACES_H
