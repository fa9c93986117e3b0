// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dependency_graph.h"

#include <algorithm>

namespace wavesan::hip {

const char *name(DependencyGraph::EdgeKind kind) {
  switch (kind) {
  case DependencyGraph::EdgeKind::Thread:
    return "thread";
  case DependencyGraph::EdgeKind::Stream:
    return "stream";
  case DependencyGraph::EdgeKind::Event:
    return "event";
  case DependencyGraph::EdgeKind::Wait:
    return "wait";
  }
  return "?";
}

void DependencyGraph::edge(size_t from, size_t to, EdgeKind kind) {
  for (size_t i = Edges.size(); i-- > 0 && Edges[i].to == to;)
    if (Edges[i].from == from) { // the order of the thread says nothing beside another one
      if (Edges[i].kind == EdgeKind::Thread)
        Edges[i].kind = kind;
      return;
    }
  Edges.push_back({from, to, kind});
}

void DependencyGraph::call(const CallRecord &c) {
  if (c.result != kHipSuccess || (c.clock.stream == 0 && c.waitKind == WaitKind::None))
    return;
  if (Nodes.size() >= MaxNodes) {
    ++Dropped;
    return;
  }
  const size_t here = Nodes.size();
  Nodes.push_back({c.correlation, c.id, c.thread, c.clock.stream, c.begin, c.end});
  ById[c.correlation] = here;
  if (auto last = LastOfThread.find(c.thread); last != LastOfThread.end())
    edge(last->second, here, EdgeKind::Thread);
  LastOfThread[c.thread] = here;
  if (c.wait.state == WaitState::Resolved)
    if (auto producer = ById.find(c.wait.producer.correlation); producer != ById.end() && producer->second != here)
      edge(producer->second, here,
           c.waitKind == WaitKind::StreamForEvent || c.waitKind == WaitKind::HostForEvent ? EdgeKind::Event
                                                                                          : EdgeKind::Wait);
  if (c.waitKind == WaitKind::HostForDevice)
    for (const auto &[stream, last] : LastOfStream)
      if (Devices[stream] == c.device || Devices[stream] == kUnknownDevice)
        edge(last, here, EdgeKind::Wait);
  const bool waitsOnHost =
      c.waitKind != WaitKind::None && c.waitKind != WaitKind::StreamForEvent && c.waitKind != WaitKind::StreamForValue;
  if (c.clock.stream == 0 || waitsOnHost || c.capture)
    return;
  if (auto last = LastOfStream.find(c.clock.stream); last != LastOfStream.end())
    edge(last->second, here, EdgeKind::Stream);
  LastOfStream[c.clock.stream] = here;
}

DependencyGraph::Path DependencyGraph::criticalPath() const {
  struct Best {
    uint64_t sum;
    size_t from = SIZE_MAX;
  };
  std::vector<Best> best(Nodes.size());
  for (size_t i = 0; i < Nodes.size(); ++i)
    best[i].sum = Nodes[i].end - Nodes[i].begin;
  for (const Edge &e : Edges) { // those that lead to a node stand behind those that lead to earlier ones
    const Node &from = Nodes[e.from], &to = Nodes[e.to];
    const uint64_t start = std::max(to.begin, from.end);
    const uint64_t sum = best[e.from].sum + (to.end > start ? to.end - start : 0);
    if (sum > best[e.to].sum)
      best[e.to] = {sum, e.from};
  }
  Path path;
  size_t at = SIZE_MAX;
  for (size_t i = 0; i < best.size(); ++i)
    if (at == SIZE_MAX || best[i].sum > best[at].sum)
      at = i;
  if (at != SIZE_MAX)
    path.nanoseconds = best[at].sum;
  for (; at != SIZE_MAX; at = best[at].from)
    path.nodes.push_back(at);
  std::reverse(path.nodes.begin(), path.nodes.end());
  return path;
}

std::string DependencyGraph::json() const {
  const Path path = criticalPath();
  std::string out = "{\"schema\":\"wavesan-graph\",\"schemaVersion\":1,\"clock\":\"CLOCK_BOOTTIME\",\"nodes\":[";
  for (size_t i = 0; i < Nodes.size(); ++i) {
    const Node &n = Nodes[i];
    out += std::string(i ? ",\n" : "\n") + "{\"correlation_id\":" + std::to_string(n.id) + ",\"function\":\"" +
           infoOf(n.call).name + "\",\"category\":\"" + name(infoOf(n.call).category) +
           "\",\"thread\":" + std::to_string(n.thread) + ",\"stream_id\":{\"handle\":" + std::to_string(n.stream) +
           "},\"begin\":" + std::to_string(n.begin) + ",\"end\":" + std::to_string(n.end) + "}";
  }
  out += "],\n\"edges\":[";
  for (size_t i = 0; i < Edges.size(); ++i)
    out += std::string(i ? ",\n" : "\n") + "{\"from\":" + std::to_string(Nodes[Edges[i].from].id) +
           ",\"to\":" + std::to_string(Nodes[Edges[i].to].id) + ",\"kind\":\"" + name(Edges[i].kind) + "\"}";
  out += "],\n\"critical_path\":{\"nanoseconds\":" + std::to_string(path.nanoseconds) + ",\"correlation_ids\":[";
  for (size_t i = 0; i < path.nodes.size(); ++i)
    out += (i ? "," : "") + std::to_string(Nodes[path.nodes[i]].id);
  return out + "]},\n\"dropped\":" + std::to_string(Dropped) + "}\n";
}

std::string DependencyGraph::dot() const {
  const Path path = criticalPath();
  std::vector<size_t> next(Nodes.size(), SIZE_MAX); // on the critical path
  std::vector<bool> critical(Nodes.size());
  for (size_t i = 0; i < path.nodes.size(); ++i) {
    critical[path.nodes[i]] = true;
    if (i + 1 < path.nodes.size())
      next[path.nodes[i]] = path.nodes[i + 1];
  }
  std::string out = "digraph calls {\n  rankdir=LR;\n  node [shape=box];\n  label=\"critical path: " +
                    std::to_string(path.nanoseconds / 1000) + " us\";\n";
  for (size_t i = 0; i < Nodes.size(); ++i) {
    const Node &n = Nodes[i];
    out += "  c" + std::to_string(n.id) + " [label=\"" + infoOf(n.call).name + "\\n" +
           (n.stream ? "stream " + std::to_string(n.stream) : "thread " + std::to_string(n.thread)) + ", " +
           std::to_string((n.end - n.begin) / 1000) + " us\"" + (critical[i] ? ", color=red, penwidth=2" : "") + "];\n";
  }
  for (const Edge &e : Edges) {
    const char *style = e.kind == EdgeKind::Thread   ? "style=dotted"
                        : e.kind == EdgeKind::Stream ? "style=solid"
                        : e.kind == EdgeKind::Event  ? "style=bold, label=event"
                                                     : "style=dashed";
    out += "  c" + std::to_string(Nodes[e.from].id) + " -> c" + std::to_string(Nodes[e.to].id) + " [" + style +
           (next[e.from] == e.to ? ", color=red" : "") + "];\n";
  }
  if (Dropped)
    out += "  dropped [label=\"and " + std::to_string(Dropped) + " calls more\", shape=plaintext];\n";
  return out + "}\n";
}

namespace {

/// Writes the whole graph at the end.
class GraphSink : public TraceSink {
public:
  GraphSink(TraceFile file, bool asDot) : File(std::move(file)), Dot(asDot) {}
  void stream(const StreamInfo &info) override { Graph.stream(info); }
  void call(const CallRecord &record) override { Graph.call(record); }
  void finish(const TraceSummary &) override {
    File.write(Dot ? Graph.dot() : Graph.json(), 0);
    File.finish();
  }
  void abandon() override { File.abandon(); }
  std::string takeError() override { return File.takeError(); }

private:
  TraceFile File;
  const bool Dot;
  DependencyGraph Graph;
};

} // namespace

std::unique_ptr<TraceSink> makeGraphSink(TraceFile file, bool dot) {
  return std::make_unique<GraphSink>(std::move(file), dot);
}

} // namespace wavesan::hip
