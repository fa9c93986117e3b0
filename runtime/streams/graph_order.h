// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Happens-before between the nodes of one launch of a graph: its edges, and nothing else.
#ifndef WAVESAN_STREAMS_GRAPH_ORDER_H
#define WAVESAN_STREAMS_GRAPH_ORDER_H

#include "wavesan/abi/stream_check.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace wavesan::streams {

using Calls = std::shared_ptr<const std::vector<uint64_t>>; ///< return addresses, innermost first; null: none
using NodeIndex = uint32_t;
inline constexpr NodeIndex kNoNode = UINT32_MAX;

/// Immutable. A node's index is above those of the nodes that it depends on.
class GraphOrder {
public:
  struct Node {
    abi::CommandKind kind = abi::CommandKind::Kernel;
    const char *function = ""; ///< of HIP, that made it
    Calls call;                ///< and where
    uint64_t number = 0;       ///< for people, from 1, in the order in which the nodes were made
    std::vector<NodeIndex> dependencies;
  };
  /// Graphs with more nodes are not compared: the order takes a bit for each pair.
  static constexpr size_t kMaxNodes = 1 << 13;

  explicit GraphOrder(std::vector<Node> nodes) : Nodes(std::move(nodes)), Words((Nodes.size() + 63) / 64) {
    Before.resize(Nodes.size() * Words);
    for (size_t n = 0; n < Nodes.size(); ++n)
      for (const NodeIndex d : Nodes[n].dependencies) {
        for (size_t w = 0; w < Words; ++w)
          Before[n * Words + w] |= Before[d * Words + w];
        Before[n * Words + d / 64] |= uint64_t(1) << d % 64;
      }
  }

  const Node &node(NodeIndex n) const { return Nodes[n]; }
  size_t size() const { return Nodes.size(); }
  bool before(NodeIndex a, NodeIndex b) const { return Before[b * Words + a / 64] >> a % 64 & 1; }
  bool ordered(NodeIndex a, NodeIndex b) const { return a == b || before(a, b) || before(b, a); }

  enum class Relation : uint8_t { Ordered, Unordered, Uncertain };
  /// Of two dispatches, each of which is one of these nodes, but not the same one.
  Relation relation(std::span<const NodeIndex> a, std::span<const NodeIndex> b) const {
    bool yes = false, no = false;
    for (const NodeIndex x : a)
      for (const NodeIndex y : b)
        if (x != y)
          (ordered(x, y) ? yes : no) = true;
    return !no ? Relation::Ordered : yes ? Relation::Uncertain : Relation::Unordered;
  }

private:
  std::vector<Node> Nodes;
  size_t Words;
  std::vector<uint64_t> Before;
};

} // namespace wavesan::streams

#endif // WAVESAN_STREAMS_GRAPH_ORDER_H
