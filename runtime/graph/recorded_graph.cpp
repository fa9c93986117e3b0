// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "recorded_graph.h"

#include "call_hook.h"
#include "capture.h"

#include "sync_places.h"

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

/// Registered host memory is one memory at both of its addresses.
static void byHost(streams::GraphNode &node) {
  struct Pieces {
    std::vector<streams::TouchedBytes> all;
    uint8_t bits;
  } pieces;
  for (const streams::TouchedBytes &t : node.touched) {
    pieces.bits = t.bits;
    wavesan_hip_by_host(t.begin, t.end, &pieces, [](void *self, uint64_t begin, uint64_t end) {
      auto &to = *static_cast<Pieces *>(self);
      to.all.push_back({begin, end, to.bits});
    });
  }
  node.touched = std::move(pieces.all);
  for (abi::SyncPlace &place : node.places)
    wavesan_hip_by_host(place.address, place.address + 1, &place, [](void *self, uint64_t begin, uint64_t) {
      static_cast<abi::SyncPlace *>(self)->address = begin;
    });
  streams::sortByAddress(node.places);
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
  for (streams::GraphNode &node : out)
    byHost(node);
  return out;
}

} // namespace wavesan::graph
