// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph_launches.h"

#include "sync_places.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace wavesan::hip {

using streams::GraphNode;

void GraphLaunches::begin(Ticket ticket, std::shared_ptr<const LaunchableGraph> graph) {
  if (MaxLaunches && Seen >= MaxLaunches)
    return;
  ++Seen;
  Launch &launch = Launches[ticket];
  launch.graph = std::move(graph);
  if (!launch.graph->order || !launch.graph->rangesComplete) {
    launch.problem = "its nodes, or what they touch, are not known";
    return;
  }
  const streams::GraphOrder &order = *launch.graph->order;
  for (size_t n = 0; n < order.size(); ++n) {
    const streams::GraphOrder::Node &from = order.node(streams::NodeIndex(n));
    GraphNode &node = launch.nodes.emplace_back();
    node.id = n + 1;
    node.function = from.function;
    node.name = from.function;
    node.kind = from.kind == abi::CommandKind::Kernel ? "kernel"
                : from.kind == abi::CommandKind::Copy ? "copy"
                : from.kind == abi::CommandKind::Set  ? "fill"
                                                      : "other";
    node.touchedKnown = from.kind != abi::CommandKind::Kernel;
    for (const streams::NodeIndex d : from.dependencies)
      node.dependencies.push_back(d + 1);
  }
  for (const streams::Range &range : launch.graph->ranges)
    launch.nodes[range.node].touched.push_back({range.begin, range.end, range.bits});
}

void GraphLaunches::bound(Ticket ticket, uint64_t dispatch, const std::vector<streams::NodeIndex> &nodes,
                          const char *name, const abi::DispatchShapeSeen &shape) {
  auto found = Launches.find(ticket);
  if (found == Launches.end() || !found->second.problem.empty())
    return;
  Launch &launch = found->second;
  if (nodes.size() != 1 || launch.nodes[nodes[0]].dispatch) {
    launch.problem = "it is not known which node dispatch " + std::to_string(dispatch) + " is";
    return;
  }
  GraphNode &node = launch.nodes[nodes[0]];
  node.dispatch = dispatch;
  node.name = streams::displayName(name);
  std::copy(shape.grid, shape.grid + 3, node.grid);
  std::copy(shape.workgroup, shape.workgroup + 3, node.workgroup);
  launch.byDispatch[dispatch] = nodes[0];
}

void GraphLaunches::delivered(Ticket ticket, uint64_t dispatch, const abi::DispatchAccesses *accesses) {
  auto found = Launches.find(ticket);
  if (found == Launches.end())
    return;
  auto node = found->second.byDispatch.find(dispatch);
  if (node == found->second.byDispatch.end())
    return;
  GraphNode &to = found->second.nodes[node->second];
  to.touchedKnown = accesses && accesses->lost == 0;
  to.seenInRun = true;
  if (!accesses)
    return;
  streams::addTouched(to.touched, accesses->runs, accesses->runCount);
  to.places.assign(accesses->places, accesses->places + accesses->placeCount);
  streams::sortByAddress(to.places);
}

/// Empty, or why there is no file. `names`: of the files in the directory.
std::string GraphLaunches::write(Launch &launch, const std::vector<std::string> &names, uint64_t process,
                                 uint64_t number) const {
  for (const GraphNode &node : launch.nodes) {
    if (!node.touchedKnown)
      return "what " + std::string(node.kind) + " node " + std::to_string(node.id) + " touched is not known";
    const std::string end = "-" + std::to_string(process) + "-" + std::to_string(node.dispatch) + ".capsule";
    if (node.dispatch &&
        std::none_of(names.begin(), names.end(), [&](const std::string &name) { return name.ends_with(end); }))
      return "dispatch " + std::to_string(node.dispatch) + " has none";
  }
  const streams::Conflicts conflicts = streams::findConflicts(launch.nodes);
  if (!conflicts.looked)
    return "it has too many nodes or accesses";
  streams::GraphHeader header;
  header.id = number;
  header.process = process;
  std::error_code ec;
  std::filesystem::create_directories(Directory, ec); // else the file says why
  const std::string path =
      Directory + "/graph-" + std::to_string(process) + "-" + std::to_string(number) + ".graph.json";
  if (!streams::writeGraphFile(path.c_str(), streams::graphText(header, launch.nodes, conflicts, true, true)))
    return "cannot write " + path + ": " + std::strerror(errno);
  return {};
}

std::vector<std::string> GraphLaunches::finish(uint64_t process) {
  std::vector<std::string> lines, names;
  std::error_code ec;
  if (!Launches.empty())
    for (const auto &entry : std::filesystem::directory_iterator(Directory, ec))
      names.push_back(entry.path().filename().string());
  uint64_t number = 0, written = 0;
  for (auto &[_, launch] : Launches) {
    ++number;
    std::string why = launch.problem;
    if (why.empty())
      why = write(launch, names, process, number);
    if (why.empty())
      ++written;
    else
      lines.push_back("no capsule for graph launch " + std::to_string(number) + ": " + why);
  }
  if (number)
    lines.push_back("capsules: " + std::to_string(written) + " of graph launches written to " + Directory);
  Launches.clear();
  return lines;
}

} // namespace wavesan::hip
