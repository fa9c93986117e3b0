// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "recorded_graph.h"

#include "capture.h"

namespace wavesan::graph {

Graph::~Graph() {
  if (!hip)
    return;
  OwnCalls own;
  hipFunctions().hipGraphDestroy(hip);
}

const char *kindText(wavesan_graph_node_kind_t kind) {
  switch (kind) {
  case WAVESAN_GRAPH_NODE_KERNEL:
    return "kernel";
  case WAVESAN_GRAPH_NODE_COPY:
    return "copy";
  case WAVESAN_GRAPH_NODE_FILL:
    return "fill";
  case WAVESAN_GRAPH_NODE_HOST:
    return "host";
  case WAVESAN_GRAPH_NODE_EVENT_WAIT:
    return "event_wait";
  case WAVESAN_GRAPH_NODE_EVENT_SIGNAL:
    return "event_signal";
  }
  return "";
}

std::vector<streams::GraphNode> dumped(const std::vector<std::shared_ptr<const Node>> &nodes) {
  std::vector<streams::GraphNode> out;
  for (const auto &node : nodes)
    out.push_back(*node);
  return out;
}

} // namespace wavesan::graph
