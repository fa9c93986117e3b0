// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "region_files.h"

#include <cerrno>
#include <cstring>

namespace wavesan::hip {

namespace {

std::string counted(uint64_t n, const std::string &what, const std::string &many = "") {
  return std::to_string(n) + " " + (n == 1 ? what : many.empty() ? what + "s" : many);
}

/// "12 nodes (4 kernels, 8 copies)".
std::string nodesText(const std::vector<streams::GraphNode> &nodes) {
  constexpr struct {
    const char *kind, *one, *many;
  } kKinds[] = {{"kernel", "kernel", "kernels"},
                {"graph", "graph launch", "graph launches"},
                {"copy", "copy", "copies"},
                {"fill", "fill", "fills"},
                {"host", "host function", "host functions"},
                {"allocation", "allocation", "allocations"},
                {"free", "free", "frees"}};
  std::string kinds;
  for (const auto &kind : kKinds) {
    uint64_t n = 0;
    for (const streams::GraphNode &node : nodes)
      n += std::strcmp(node.kind, kind.kind) == 0;
    if (n)
      kinds += (kinds.empty() ? "" : ", ") + counted(n, kind.one, kind.many);
  }
  return counted(nodes.size(), "node") + (kinds.empty() ? "" : " (" + kinds + ")");
}

} // namespace

std::string regionPrefix(const std::string &prefix, const RecordedRegion &region) {
  return region.number <= 1 ? prefix : prefix + "." + std::to_string(region.number);
}

RegionReport writeRegion(const RecordedRegion &region, const std::string &json, const std::string &dot) {
  RegionReport out;
  const streams::Conflicts conflicts = streams::findConflicts(region.nodes);
  const streams::GraphHeader header = {region.number, region.name};
  for (const auto &[path, isJson] : {std::pair(json, true), std::pair(dot, false)})
    if (!streams::writeGraphFile(path.c_str(), streams::graphText(header, region.nodes, conflicts, true, isJson))) {
      out.lines.push_back("error: record: cannot write " + path + ": " + std::strerror(errno));
      return out;
    }
  out.written = true;
  uint64_t edges = 0;
  for (const streams::GraphNode &node : region.nodes)
    edges += node.dependencies.size();
  std::string name = region.name;
  for (char &c : name) // the line is to be one line
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  const std::string whole = region.name == RegionRecorder::kAll ? "the whole program" : "region '" + name + "'";
  out.lines.push_back(
      "recorded " + whole + (region.number > 1 ? " (number " + std::to_string(region.number) + ")" : "") + ": " +
      nodesText(region.nodes) + " in " + counted(region.streams, "stream") + ", " + counted(edges, "edge") + ", " +
      (conflicts.looked ? counted(conflicts.found.size(), "conflict")
                        : std::string("conflicts not looked for (too many nodes or accesses)")) +
      ": " + json + ", " + dot);
  if (region.openEnd)
    out.lines.push_back("record: the program ended inside of " + whole);
  if (conflicts.touchedUnknown && conflicts.looked)
    out.lines.push_back(
        "record: what " + counted(conflicts.touchedUnknown, "node") + " of " + whole +
        " touched is not (all) known and was not compared (kernels that are not built with WaveSan, or run "
        "on a GPU; copies of symbols and arrays)");
  if (conflicts.orderUnknown)
    out.lines.push_back("record: " + counted(conflicts.orderUnknown, "node") + " of " + whole +
                        " may have more edges and were not compared: what they wait for was not seen");
  for (const auto &[what, n] : region.skipped)
    out.lines.push_back("record: not in " + whole + ": " + what + " (" + std::to_string(n) + ")");
  return out;
}

} // namespace wavesan::hip
