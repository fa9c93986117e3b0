// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "recorded_graph.h"

#include "capture.h"

#include <algorithm>

namespace wavesan::graph {

Graph::~Graph() {
  if (!hip)
    return;
  OwnCalls own;
  hipFunctions().hipGraphDestroy(hip);
}

Reachability::Reachability(const std::vector<std::shared_ptr<const Node>> &nodes)
    : Valid(nodes.size() <= kMaxNodes), Words((nodes.size() + 63) / 64) {
  if (!Valid)
    return;
  Before.resize(nodes.size() * Words);
  for (const auto &node : nodes) {
    uint64_t *own = &Before[size_t(node->id - 1) * Words];
    for (NodeId d : node->dependencies) {
      const uint64_t *theirs = &Before[size_t(d - 1) * Words];
      for (size_t w = 0; w < Words; ++w)
        own[w] |= theirs[w];
      own[size_t(d - 1) / 64] |= uint64_t(1) << (d - 1) % 64;
    }
  }
}

std::vector<NodeConflict> findConflicts(const std::vector<std::shared_ptr<const Node>> &nodes,
                                        const Reachability &order) {
  struct Piece {
    TouchedBytes bytes;
    NodeId node;
  };
  std::vector<Piece> pieces;
  for (const auto &node : nodes)
    for (const TouchedBytes &t : node->touched)
      pieces.push_back({t, node->id});
  std::sort(pieces.begin(), pieces.end(), [](const Piece &a, const Piece &b) { return a.bytes.begin < b.bytes.begin; });
  std::vector<NodeConflict> found;
  for (size_t i = 0; i < pieces.size(); ++i)
    for (size_t j = i + 1; j < pieces.size() && pieces[j].bytes.begin < pieces[i].bytes.end; ++j) {
      const Piece &a = pieces[i], &b = pieces[j];
      const NodeId first = std::min(a.node, b.node), second = std::max(a.node, b.node);
      if (first == second || (!a.bytes.write && !b.bytes.write) || order.before(first, second))
        continue;
      const uint64_t end = std::min(a.bytes.end, b.bytes.end);
      auto known = std::find_if(found.begin(), found.end(),
                                [&](const NodeConflict &c) { return c.first == first && c.second == second; });
      if (known == found.end())
        found.push_back({first, second, b.bytes.begin, end - b.bytes.begin});
      else
        known->bytes += end - b.bytes.begin;
    }
  std::sort(found.begin(), found.end(), [](const NodeConflict &a, const NodeConflict &b) {
    return std::pair(a.first, a.second) < std::pair(b.first, b.second);
  });
  return found;
}

} // namespace wavesan::graph
