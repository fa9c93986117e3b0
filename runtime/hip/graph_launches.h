// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches of graphs beside the capsules of their dispatches (docs/capsule.md): which dispatch is which node, what the
// edges are, and which nodes conflict without one. With the memory that each dispatch has found, that is a graph's
// capsule.
#ifndef WAVESAN_HIP_GRAPH_LAUNCHES_H
#define WAVESAN_HIP_GRAPH_LAUNCHES_H

#include "graph_file.h"
#include "graph_models.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace wavesan::hip {

/// Not thread-safe.
class GraphLaunches {
public:
  using Ticket = streams::CommandChecker::Ticket;
  /// Files are written to `directory`, of at most `maxLaunches` launches (0: no limit).
  GraphLaunches(std::string directory, uint64_t maxLaunches)
      : Directory(std::move(directory)), MaxLaunches(maxLaunches) {}

  void begin(Ticket launch, std::shared_ptr<const LaunchableGraph> graph);
  /// `nodes`: as LaunchMatcher has them.
  void bound(Ticket launch, uint64_t dispatch, const std::vector<streams::NodeIndex> &nodes, const char *name,
             const abi::DispatchShapeSeen &shape);
  void delivered(Ticket launch, uint64_t dispatch, const abi::DispatchAccesses *accesses);
  void cancelled(Ticket launch) { Launches.erase(launch); }

  /// Writes the files of the launches whose dispatches all have capsules in the directory. Returns lines to be said;
  /// errors begin with "error: ".
  std::vector<std::string> finish(uint64_t process);

private:
  struct Launch {
    std::shared_ptr<const LaunchableGraph> graph;
    std::vector<streams::GraphNode> nodes;
    std::map<uint64_t, size_t> byDispatch;
    std::string problem; ///< why there can be no file
  };
  std::string write(Launch &launch, const std::vector<std::string> &names, uint64_t process, uint64_t number) const;

  const std::string Directory;
  const uint64_t MaxLaunches;
  uint64_t Seen = 0;
  std::map<Ticket, Launch> Launches;
};

} // namespace wavesan::hip

#endif // WAVESAN_HIP_GRAPH_LAUNCHES_H
