// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph_file.h"

#include "json_text.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <set>
#include <string_view>

namespace wavesan::streams {

namespace {

std::string number(uint64_t n) { return std::to_string(n); }
std::string address(const void *p) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%" PRIxPTR, reinterpret_cast<uintptr_t>(p));
  return text;
}
std::string triple(const uint32_t (&d)[3]) { return number(d[0]) + ", " + number(d[1]) + ", " + number(d[2]); }
bool isKernel(const GraphNode &node) { return node.workgroup[0] != 0; }
std::string titleOf(const GraphHeader &header) {
  return "graph " + number(header.id) + (header.region ? " of region '" + *header.region + "'" : "");
}

std::string dotOf(const GraphHeader &header, const std::vector<GraphNode> &nodes, const Conflicts &conflicts,
                  bool detailed) {
  std::set<NodeId> marked;
  for (const NodeConflict &c : conflicts.found)
    marked.insert({c.first, c.second});
  std::string out = "digraph " + quoted(titleOf(header)) + " {\n  node [shape=box];\n";
  for (const GraphNode &node : nodes) {
    // A line break in a label is a backslash and an n, which must not be quoted.
    std::string label = quoted(number(node.id) + ": " + node.kind + " " + node.name);
    label.pop_back();
    if (detailed) {
      label += "\\nstream " + number(node.stream);
      if (isKernel(node))
        label += "\\ngrid " + triple(node.grid) + ", workgroup " + triple(node.workgroup) + ", " +
                 number(node.groupBytes) + " bytes of LDS";
      if (node.to)
        label += "\\nto " + address(node.to);
      if (node.from)
        label += "\\nfrom " + address(node.from);
      if (node.bytes)
        label += "\\n" + number(node.bytes) + " bytes";
    }
    out +=
        "  n" + number(node.id) + " [label=" + label + "\"" + (marked.contains(node.id) ? ", color=red" : "") + "];\n";
  }
  for (const GraphNode &node : nodes)
    for (const NodeId d : node.dependencies)
      out += "  n" + number(d) + " -> n" + number(node.id) + ";\n";
  for (const NodeConflict &c : conflicts.found)
    out += "  n" + number(c.first) + " -> n" + number(c.second) +
           " [style=dashed, color=red, label=" + quoted("missing: both touch " + number(c.bytes) + " bytes") + "];\n";
  return out + "}\n";
}

std::string jsonOf(const GraphHeader &header, const std::vector<GraphNode> &nodes, const Conflicts &conflicts,
                   bool detailed) {
  std::string out = "{\"schema\": \"wavesan-recorded-graph\", \"schemaVersion\": 1, \"id\": " + number(header.id);
  if (header.process)
    out += ", \"process\": " + number(header.process);
  if (header.region)
    out += ", \"region\": " + quoted(*header.region);
  out += ",\n\"nodes\": [";
  const char *separator = "\n";
  for (const GraphNode &node : nodes) {
    out += separator;
    separator = ",\n";
    out += "  {\"id\": " + number(node.id) + ", \"kind\": \"" + node.kind + std::string("\", \"name\": ") +
           quoted(node.name);
    if (detailed) {
      out += ", \"function\": " + quoted(node.function) + ", \"stream\": " + number(node.stream);
      if (isKernel(node))
        out += ", \"grid\": [" + triple(node.grid) + "], \"workgroup\": [" + triple(node.workgroup) +
               "], \"groupBytes\": " + number(node.groupBytes);
      if (node.to)
        out += ", \"to\": \"" + address(node.to) + "\"";
      if (node.from)
        out += ", \"from\": \"" + address(node.from) + "\"";
      if (node.bytes)
        out += ", \"bytes\": " + number(node.bytes);
    }
    if (header.process && node.dispatch) {
      out += ", \"dispatch\": " + number(node.dispatch);
    } else if (header.process) {
      out += ", \"touched\": [";
      for (size_t i = 0; i < node.touched.size(); ++i)
        out += std::string(i ? ", " : "") + "[" + number(node.touched[i].begin) + ", " + number(node.touched[i].end) +
               ", " + number(node.touched[i].bits) + "]";
      out += "]";
    }
    if (!node.orderKnown)
      out += ", \"orderKnown\": false";
    out += ", \"dependencies\": [";
    for (size_t i = 0; i < node.dependencies.size(); ++i)
      out += (i ? ", " : "") + number(node.dependencies[i]);
    out += "]}";
  }
  out += "\n],\n\"conflictsLookedFor\": " + std::string(conflicts.looked ? "true" : "false") +
         ",\n\"touchedUnknown\": " + number(conflicts.touchedUnknown) + ",\n\"conflicts\": [";
  separator = "\n";
  for (const NodeConflict &c : conflicts.found) {
    out += separator;
    separator = ",\n";
    out += "  {\"missingEdge\": [" + number(c.first) + ", " + number(c.second) + "], \"address\": \"" +
           address(reinterpret_cast<const void *>(c.address)) + "\", \"bytes\": " + number(c.bytes) +
           ", \"seenInRun\": " + (c.seenInRun ? "true" : "false") + "}";
  }
  return out + "\n]}\n";
}

} // namespace

std::string displayName(const char *linkage) {
  if (!linkage)
    return "a kernel";
  int status = 0;
  char *text = ::abi::__cxa_demangle(linkage, nullptr, nullptr, &status);
  std::string name = status == 0 && text ? text : linkage;
  std::free(text);
  return name;
}

std::string graphText(const GraphHeader &header, const std::vector<GraphNode> &nodes, const Conflicts &conflicts,
                      bool detailed, bool json) {
  return json ? jsonOf(header, nodes, conflicts, detailed) : dotOf(header, nodes, conflicts, detailed);
}

bool writeGraphFile(const char *path, const std::string &text) {
  FILE *file = std::fopen(path, "we");
  if (!file)
    return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return (std::fclose(file) == 0) && written;
}

} // namespace wavesan::streams
