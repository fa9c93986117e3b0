// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What depends on what in a run: calls as nodes, and between them the order of threads, of streams and of waits.
#ifndef WAVESAN_HIP_DEPENDENCY_GRAPH_H
#define WAVESAN_HIP_DEPENDENCY_GRAPH_H

#include "trace_sink.h"

#include <vector>

namespace wavesan::hip {

/// Not thread-safe. At most `maxNodes` calls; what comes later is counted and left out.
class DependencyGraph {
public:
  static constexpr size_t kMaxNodes = 1 << 17;
  explicit DependencyGraph(size_t maxNodes = kMaxNodes) : MaxNodes(maxNodes) {}

  enum class EdgeKind : uint8_t {
    Thread, ///< the next call of a thread
    Stream, ///< the next command of a stream
    Event,  ///< a wait for an event
    Wait    ///< a wait for a stream, a device or a value
  };
  struct Node {
    CorrelationId id;
    CallId call;
    uint32_t thread;
    StreamId stream; ///< 0: none
    uint64_t begin, end;
  };
  struct Edge {
    size_t from, to; ///< indices of nodes; from < to
    EdgeKind kind;
  };

  void stream(const StreamInfo &info) { Devices[info.id] = info.device; }
  /// In the order in which the calls end. Calls that neither use a stream nor wait are no nodes.
  void call(const CallRecord &record);

  const std::vector<Node> &nodes() const { return Nodes; }
  const std::vector<Edge> &edges() const { return Edges; }
  uint64_t dropped() const { return Dropped; }

  /// The chain of dependent calls whose times add up to most; of a call, the part behind the end of the one in front of
  /// it counts. Indices of nodes, in order.
  struct Path {
    std::vector<size_t> nodes;
    uint64_t nanoseconds = 0;
  };
  Path criticalPath() const;

  std::string json() const;
  std::string dot() const;

private:
  void edge(size_t from, size_t to, EdgeKind kind);
  const size_t MaxNodes;
  std::vector<Node> Nodes;
  std::vector<Edge> Edges; ///< by `to`
  std::unordered_map<CorrelationId, size_t> ById;
  std::unordered_map<uint32_t, size_t> LastOfThread;
  std::unordered_map<StreamId, size_t> LastOfStream;
  std::unordered_map<StreamId, int> Devices;
  uint64_t Dropped = 0;
};
const char *name(DependencyGraph::EdgeKind);

} // namespace wavesan::hip

#endif // WAVESAN_HIP_DEPENDENCY_GRAPH_H
