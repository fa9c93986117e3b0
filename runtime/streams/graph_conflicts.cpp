// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which nodes of a graph touch the same bytes without an edge.
#include "graph_file.h"

#include "sync_places.h"

#include <algorithm>
#include <map>

namespace wavesan::streams {

Reachability::Reachability(const std::vector<GraphNode> &nodes)
    : Valid(nodes.size() <= kMaxNodes), Words((nodes.size() + 63) / 64) {
  if (!Valid)
    return;
  Before.resize(nodes.size() * Words);
  for (const GraphNode &node : nodes) {
    uint64_t *own = &Before[size_t(node.id - 1) * Words];
    for (NodeId d : node.dependencies) {
      const uint64_t *theirs = &Before[size_t(d - 1) * Words];
      for (size_t w = 0; w < Words; ++w)
        own[w] |= theirs[w];
      own[size_t(d - 1) / 64] |= uint64_t(1) << (d - 1) % 64;
    }
  }
}

namespace {

/// Pairs of accesses that are compared at most: some tenths of a second.
constexpr uint64_t kMaxCompared = 1 << 26;

struct Piece {
  TouchedBytes bytes;
  size_t node;
};

} // namespace

void addTouched(std::vector<TouchedBytes> &to, const abi::AccessRun *runs, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    // Nodes are dispatches of their own: atomics of a workgroup exclude nothing in another one.
    to.push_back({runs[i].begin, runs[i].end,
                  uint8_t(runs[i].scope < abi::Scope::Agent ? runs[i].bits & ~abi::kAccessAtomic : runs[i].bits)});
  std::sort(to.begin(), to.end(),
            [](const auto &a, const auto &b) { return std::pair(a.bits, a.begin) < std::pair(b.bits, b.begin); });
  std::vector<TouchedBytes> joined;
  for (const TouchedBytes &t : to)
    if (!joined.empty() && joined.back().bits == t.bits && t.begin <= joined.back().end)
      joined.back().end = std::max(joined.back().end, t.end);
    else
      joined.push_back(t);
  to = std::move(joined);
}

Conflicts findConflicts(const std::vector<GraphNode> &nodes) {
  Conflicts out;
  std::vector<Piece> pieces;
  for (const GraphNode &node : nodes) {
    out.touchedUnknown += !node.touchedKnown;
    out.orderUnknown += !node.orderKnown;
    if (node.orderKnown)
      for (const TouchedBytes &t : node.touched)
        pieces.push_back({t, size_t(node.id - 1)});
  }
  const Reachability order(nodes);
  if (!order.valid())
    return out;
  std::sort(pieces.begin(), pieces.end(), [](const Piece &a, const Piece &b) { return a.bytes.begin < b.bytes.begin; });
  std::map<std::pair<NodeId, NodeId>, NodeConflict> found;
  uint64_t compared = 0;
  for (size_t i = 0; i < pieces.size(); ++i)
    for (size_t j = i + 1; j < pieces.size() && pieces[j].bytes.begin < pieces[i].bytes.end; ++j) {
      if (++compared > kMaxCompared)
        return out;
      const Piece &a = pieces[i], &b = pieces[j];
      const bool writes = (a.bytes.bits | b.bytes.bits) & abi::kAccessWrite;
      const bool atomics = a.bytes.bits & b.bytes.bits & abi::kAccessAtomic;
      if (a.node == b.node || !writes || atomics)
        continue;
      const GraphNode &first = nodes[std::min(a.node, b.node)], &second = nodes[std::max(a.node, b.node)];
      if (order.before(first.id, second.id) || mayBeOrderedByAtomics(first.places, second.places, false))
        continue;
      const uint64_t end = std::min(a.bytes.end, b.bytes.end);
      auto [at, fresh] = found.try_emplace({first.id, second.id}, NodeConflict{first.id, second.id, b.bytes.begin, 0,
                                                                               first.seenInRun || second.seenInRun});
      at->second.bytes += end - b.bytes.begin;
    }
  out.looked = true;
  for (const auto &[_, conflict] : found)
    out.found.push_back(conflict);
  return out;
}

} // namespace wavesan::streams
