// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What launches of kernels have touched when they ran, so that a graph with the same launch can be looked at before it
// runs. A launch is the same if kernel, grid, workgroup and explicit arguments are.
#ifndef WAVESAN_HIP_KNOWN_ACCESSES_H
#define WAVESAN_HIP_KNOWN_ACCESSES_H

#include "graph_file.h"
#include "graph_models.h"
#include "sync_places.h"

#include <algorithm>
#include <map>
#include <memory>

namespace wavesan::hip {

struct TouchedByLaunch {
  std::vector<streams::TouchedBytes> touched;
  std::vector<abi::SyncPlace> places; ///< by address
};

/// Not thread-safe.
class KnownAccesses {
public:
  /// When more than `maxBytes` are to be kept, everything is forgotten.
  explicit KnownAccesses(size_t maxBytes) : MaxBytes(maxBytes) {}

  /// Names a launch; empty: not enough is known of it.
  static std::string keyOf(const KernelLaunch &launch) {
    if (launch.kernel.empty() || !launch.layout.known || launch.shape.workgroup[0] == 0)
      return {};
    std::string key = launch.kernel + '\0';
    key.append(reinterpret_cast<const char *>(&launch.shape), sizeof launch.shape);
    key.append(launch.arguments.begin(), launch.arguments.end());
    return key;
  }

  void bound(uint64_t ticket, uint64_t dispatch, std::string key) {
    if (!key.empty())
      UnderWay[{ticket, dispatch}] = std::move(key);
  }
  /// The latest run counts: of a launch whose accesses depend on data the last one that is known.
  void delivered(uint64_t ticket, uint64_t dispatch, const abi::DispatchAccesses *accesses) {
    auto node = UnderWay.extract({ticket, dispatch});
    if (!node)
      return;
    if (auto old = Known.find(node.mapped()); old != Known.end()) {
      Bytes -= bytesOf(*old);
      Known.erase(old);
    }
    if (!accesses || accesses->lost)
      return;
    auto set = std::make_shared<TouchedByLaunch>();
    streams::addTouched(set->touched, accesses->runs, accesses->runCount);
    set->places.assign(accesses->places, accesses->places + accesses->placeCount);
    streams::sortByAddress(set->places);
    const auto at = Known.emplace(std::move(node.mapped()), std::move(set)).first;
    Bytes += bytesOf(*at);
    if (Bytes > MaxBytes) {
      Known.clear();
      Bytes = 0;
    }
  }
  /// Null: it has not been seen.
  std::shared_ptr<const TouchedByLaunch> find(const std::string &key) const {
    auto found = Known.find(key);
    return found == Known.end() ? nullptr : found->second;
  }

private:
  using Map = std::map<std::string, std::shared_ptr<const TouchedByLaunch>>;
  static size_t bytesOf(const Map::value_type &entry) {
    return 128 + entry.first.size() + entry.second->touched.size() * sizeof(streams::TouchedBytes) +
           entry.second->places.size() * sizeof(abi::SyncPlace);
  }
  size_t MaxBytes;
  size_t Bytes = 0;
  Map Known;
  std::map<std::pair<uint64_t, uint64_t>, std::string> UnderWay; ///< by ticket and dispatch
};

} // namespace wavesan::hip

#endif // WAVESAN_HIP_KNOWN_ACCESSES_H
