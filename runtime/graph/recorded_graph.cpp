// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "recorded_graph.h"

#include "call_hook.h"
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
  for (const auto &node : nodes) {
    streams::GraphNode &copy = out.emplace_back(*node);
    if (node->type != WAVESAN_GRAPH_NODE_KERNEL)
      continue;
    const WavesanNodeAccesses to = {&copy,
                                    [](void *self, uint64_t begin, uint64_t end, uint8_t bits) {
                                      static_cast<streams::GraphNode *>(self)->touched.push_back({begin, end, bits});
                                    },
                                    [](void *self, const abi::SyncPlace *place) {
                                      static_cast<streams::GraphNode *>(self)->places.push_back(*place);
                                    }};
    copy.touchedKnown = copy.seenInRun = wavesan_hip_node_accesses(node->hip, nullptr, &to);
  }
  return out;
}

} // namespace wavesan::graph
