// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph as DOT (Graphviz) and JSON.
#include "recorded_graph.h"

#include <cinttypes>
#include <cstdio>

namespace wavesan::graph {

namespace {

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

/// In double quotes, for JSON and for DOT.
std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out + '"';
}

std::string number(uint64_t n) { return std::to_string(n); }
std::string address(const void *p) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%" PRIxPTR, reinterpret_cast<uintptr_t>(p));
  return text;
}
std::string triple(const Dim3 &d) { return number(d.x) + ", " + number(d.y) + ", " + number(d.z); }

std::string dotOf(uint64_t id, const std::vector<std::shared_ptr<const Node>> &nodes,
                  const std::vector<NodeConflict> &conflicts, bool detailed) {
  std::string out = "digraph " + quoted("graph " + number(id)) + " {\n  node [shape=box];\n";
  for (const auto &node : nodes) {
    // A line break in a label is a backslash and an n, which must not be quoted.
    std::string label = quoted(number(node->id) + ": " + kindText(node->kind) + " " + node->name);
    label.pop_back();
    if (detailed) {
      label += "\\nstream " + number(node->stream);
      if (node->kind == WAVESAN_GRAPH_NODE_KERNEL)
        label += "\\ngrid " + triple(node->grid) + ", workgroup " + triple(node->workgroup) + ", " +
                 number(node->groupBytes) + " bytes of LDS";
      if (node->to)
        label += "\\nto " + address(node->to);
      if (node->from)
        label += "\\nfrom " + address(node->from);
      if (node->bytes)
        label += "\\n" + number(node->bytes) + " bytes";
    }
    bool marked = false;
    for (const NodeConflict &c : conflicts)
      marked = marked || c.first == node->id || c.second == node->id;
    out += "  n" + number(node->id) + " [label=" + label + "\"" + (marked ? ", color=red" : "") + "];\n";
  }
  for (const auto &node : nodes)
    for (const NodeId d : node->dependencies)
      out += "  n" + number(d) + " -> n" + number(node->id) + ";\n";
  for (const NodeConflict &c : conflicts)
    out += "  n" + number(c.first) + " -> n" + number(c.second) +
           " [style=dashed, color=red, label=" + quoted("missing: both touch " + number(c.bytes) + " bytes") + "];\n";
  return out + "}\n";
}

std::string jsonOf(uint64_t id, const std::vector<std::shared_ptr<const Node>> &nodes,
                   const std::vector<NodeConflict> &conflicts, bool looked, bool detailed) {
  std::string out =
      "{\"schema\": \"wavesan-recorded-graph\", \"schemaVersion\": 1, \"id\": " + number(id) + ",\n" + "\"nodes\": [";
  const char *separator = "\n";
  for (const auto &node : nodes) {
    out += separator;
    separator = ",\n";
    out += "  {\"id\": " + number(node->id) + ", \"kind\": \"" + kindText(node->kind) +
           "\", \"name\": " + quoted(node->name);
    if (detailed) {
      out += ", \"function\": " + quoted(node->function) + ", \"stream\": " + number(node->stream);
      if (node->kind == WAVESAN_GRAPH_NODE_KERNEL)
        out += ", \"grid\": [" + triple(node->grid) + "], \"workgroup\": [" + triple(node->workgroup) +
               "], \"groupBytes\": " + number(node->groupBytes);
      if (node->to)
        out += ", \"to\": \"" + address(node->to) + "\"";
      if (node->from)
        out += ", \"from\": \"" + address(node->from) + "\"";
      if (node->bytes)
        out += ", \"bytes\": " + number(node->bytes);
    }
    out += ", \"dependencies\": [";
    for (size_t i = 0; i < node->dependencies.size(); ++i)
      out += (i ? ", " : "") + number(node->dependencies[i]);
    out += "]}";
  }
  out += "\n],\n\"conflictsLookedFor\": " + std::string(looked ? "true" : "false") + ",\n\"conflicts\": [";
  separator = "\n";
  for (const NodeConflict &c : conflicts) {
    out += separator;
    separator = ",\n";
    out += "  {\"missingEdge\": [" + number(c.first) + ", " + number(c.second) + "], \"address\": \"" +
           address(reinterpret_cast<const void *>(c.address)) + "\", \"bytes\": " + number(c.bytes) + "}";
  }
  return out + "\n]}\n";
}

} // namespace

bool writeDump(uint64_t graphId, const std::vector<std::shared_ptr<const Node>> &nodes, const char *path, bool detailed,
               bool json) {
  const Reachability order(nodes);
  std::vector<NodeConflict> conflicts;
  if (order.valid())
    conflicts = findConflicts(nodes, order);
  const std::string text =
      json ? jsonOf(graphId, nodes, conflicts, order.valid(), detailed) : dotOf(graphId, nodes, conflicts, detailed);
  FILE *file = std::fopen(path, "we");
  if (!file)
    return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return (std::fclose(file) == 0) && written;
}

} // namespace wavesan::graph
