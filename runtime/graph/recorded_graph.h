// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph: what was recorded, beside the graph of HIP that executes it. HIP's graph is built while recording, so that
// HIP copies the arguments of kernels, whose sizes only it knows, and refuses what it cannot do.
#ifndef WAVESAN_GRAPH_RECORDED_GRAPH_H
#define WAVESAN_GRAPH_RECORDED_GRAPH_H

#include "hip_functions.h"

#include "wavesan/graph.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace wavesan::graph {

using NodeId = uint64_t; ///< from 1, in the order of recording; a node depends on lower ones only

/// Bytes that a copy or a fill touches.
struct TouchedBytes {
  uint64_t begin, end;
  bool write;
};

struct Node {
  NodeId id = 0;
  wavesan_graph_node_kind_t kind = WAVESAN_GRAPH_NODE_KERNEL;
  HipNode hip = nullptr;
  const char *function = ""; ///< HIP's function that was recorded
  std::string name;
  uint64_t stream = 0;
  std::vector<NodeId> dependencies;
  Dim3 grid{}, workgroup{}; ///< grid in work-items
  uint32_t groupBytes = 0;
  const void *to = nullptr, *from = nullptr;
  uint64_t bytes = 0;
  std::vector<TouchedBytes> touched;
};

struct Graph {
  explicit Graph(uint64_t number) : id(number) {}
  Graph(const Graph &) = delete;
  ~Graph();

  const uint64_t id;
  HipGraph hip = nullptr;
  std::vector<std::shared_ptr<const Node>> nodes;
  wavesan_graph_stream_t primary = nullptr;
  bool recording = false;
  void (*callback)(void *) = nullptr;
  void *callbackData = nullptr;
};

/// Which nodes come before which, by the edges.
class Reachability {
public:
  /// More nodes than this are not looked at: valid() is false then.
  static constexpr size_t kMaxNodes = 1 << 13;
  explicit Reachability(const std::vector<std::shared_ptr<const Node>> &nodes);
  bool valid() const { return Valid; }
  bool before(NodeId earlier, NodeId later) const {
    return Before[size_t(later - 1) * Words + size_t(earlier - 1) / 64] >> ((earlier - 1) % 64) & 1;
  }

private:
  bool Valid;
  size_t Words;
  std::vector<uint64_t> Before;
};

/// Two nodes that touch the same bytes, one of them writing, without a path of edges between them.
struct NodeConflict {
  NodeId first, second;
  uint64_t address, bytes;
};
/// Among copies and fills: what kernels touch is known when they have run.
std::vector<NodeConflict> findConflicts(const std::vector<std::shared_ptr<const Node>> &nodes, const Reachability &);

/// False: errno says why the file cannot be written.
bool writeDump(uint64_t graphId, const std::vector<std::shared_ptr<const Node>> &nodes, const char *path, bool detailed,
               bool json);

} // namespace wavesan::graph

#endif // WAVESAN_GRAPH_RECORDED_GRAPH_H
