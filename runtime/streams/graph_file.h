// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph of commands as people and tools see it: nodes, edges, and the nodes that conflict, as DOT (Graphviz) and
// JSON. Of a graph that was recorded through wavesan/graph.h, and of a region that `wavesan record` has observed.
#ifndef WAVESAN_STREAMS_GRAPH_FILE_H
#define WAVESAN_STREAMS_GRAPH_FILE_H

#include "wavesan/abi/stream_check.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wavesan::streams {

using NodeId = uint64_t; ///< from 1, in the order of recording; a node depends on lower ones only

/// Bytes that a node touches.
struct TouchedBytes {
  uint64_t begin, end;
  uint8_t bits; ///< abi::AccessBits
};

struct GraphNode {
  NodeId id = 0;
  const char *kind = "kernel";
  std::string name;
  const char *function = ""; ///< HIP's function that was recorded
  uint64_t stream = 0;
  std::vector<NodeId> dependencies;
  uint32_t grid[3] = {}, workgroup[3] = {}; ///< of kernels; grid in work-items
  uint32_t groupBytes = 0;
  const void *to = nullptr, *from = nullptr;
  uint64_t bytes = 0;
  std::vector<TouchedBytes> touched;
  std::vector<abi::SyncPlace> places; ///< through which atomics may have ordered it, by address
  bool touchedKnown = true;           ///< false: it touches more than `touched`
  bool seenInRun = false;             ///< `touched` is what a run of the same launch has touched
  bool orderKnown = true;             ///< false: it waits for something that was not seen
  uint64_t dispatch = 0;              ///< of one launch: its number; 0: none
};

/// Which nodes come before which, by the edges.
class Reachability {
public:
  /// More nodes than this are not looked at: valid() is false then.
  static constexpr size_t kMaxNodes = 1 << 13;
  explicit Reachability(const std::vector<GraphNode> &nodes);
  bool valid() const { return Valid; }
  bool before(NodeId earlier, NodeId later) const {
    return Before[size_t(later - 1) * Words + size_t(earlier - 1) / 64] >> ((earlier - 1) % 64) & 1;
  }

private:
  bool Valid;
  size_t Words;
  std::vector<uint64_t> Before;
};

/// Two nodes that touch the same bytes, one of them writing and not both atomically, without a path of edges between
/// them.
struct NodeConflict {
  NodeId first, second;
  uint64_t address, bytes;
  bool seenInRun; ///< known from a run of one of them
};

struct Conflicts {
  bool looked = false; ///< false: too many nodes or accesses to compare
  std::vector<NodeConflict> found;
  uint64_t touchedUnknown = 0; ///< nodes that touch more than is known, which was not compared
  uint64_t orderUnknown = 0;   ///< nodes that were not compared: what they wait for was not seen
};
Conflicts findConflicts(const std::vector<GraphNode> &nodes);

/// Joins what lies side by side. `runs` may be in any order.
void addTouched(std::vector<TouchedBytes> &to, const abi::AccessRun *runs, uint64_t count);

/// "add(int*, int)" for "_Z3addPii"; "a kernel" for null.
std::string displayName(const char *linkageName);

struct GraphHeader {
  uint64_t id = 0;
  std::optional<std::string> region; ///< of `wavesan record`; may be empty
  /// Of one launch of a graph, in this process, for its replay: nodes have their dispatches, the others what they touch.
  uint64_t process = 0;
};
/// Schema of the JSON form: docs/graph.md.
std::string graphText(const GraphHeader &header, const std::vector<GraphNode> &nodes, const Conflicts &conflicts,
                      bool detailed, bool json);
/// False: errno says why the file cannot be written.
bool writeGraphFile(const char *path, const std::string &text);

} // namespace wavesan::streams

#endif // WAVESAN_STREAMS_GRAPH_FILE_H
