// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph: what was recorded, beside the graph of HIP that executes it. HIP's graph is built while recording, so that
// HIP copies the arguments of kernels, whose sizes only it knows, and refuses what it cannot do.
#ifndef WAVESAN_GRAPH_RECORDED_GRAPH_H
#define WAVESAN_GRAPH_RECORDED_GRAPH_H

#include "graph_file.h"
#include "hip_functions.h"

#include "wavesan/graph.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace wavesan::graph {

using streams::NodeId;

struct Node : streams::GraphNode {
  wavesan_graph_node_kind_t type = WAVESAN_GRAPH_NODE_KERNEL;
  HipNode hip = nullptr;
  const void *launched = nullptr; ///< the kernel, as HIP was given it
  uint32_t maxGroupBytes = UINT32_MAX; ///< of a kernel: dynamic LDS that the device has for it, where HIP says so
  bool byExtra = false;                ///< of a kernel: its arguments came as one buffer
  bool plain = false;             ///< a copy or fill of one row, between addresses: can be changed
};
/// As dumps have it.
const char *kindText(wavesan_graph_node_kind_t kind);

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

/// As dumps have them. What kernels touch is there where the same launch has run before, under `wavesan run`.
std::vector<streams::GraphNode> dumped(const std::vector<std::shared_ptr<const Node>> &nodes);

} // namespace wavesan::graph

#endif // WAVESAN_GRAPH_RECORDED_GRAPH_H
