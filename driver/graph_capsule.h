// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The capsule of a graph's launch: a file with its nodes and edges, beside the capsules of its dispatches.
#ifndef WAVESAN_DRIVER_GRAPH_CAPSULE_H
#define WAVESAN_DRIVER_GRAPH_CAPSULE_H

#include "graph_file.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace wavesan::driver {

inline constexpr char kGraphSuffix[] = ".graph.json";

struct GraphCapsule {
  std::vector<streams::GraphNode> nodes; ///< kernels without what they touch
  std::set<std::pair<streams::NodeId, streams::NodeId>> conflicts;
  std::map<streams::NodeId, std::string> files; ///< capsules of its kernels, in the directory of the graph's file
};

/// Reads the file and finds the capsules. Nothing, and one line in `error`, if it is damaged or one is missing.
std::optional<GraphCapsule> readGraphCapsule(const std::string &path, std::string &error);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_GRAPH_CAPSULE_H
