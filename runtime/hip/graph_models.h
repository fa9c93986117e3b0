// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graphs of a HIP program, as its calls have made them: nodes, edges, and what each node touches or launches. So
// that the nodes of one launch can be compared with one another (docs/stream-order.md).
//
// What a call does to a graph that is not followed makes its model unknown, never wrong.
#ifndef WAVESAN_HIP_GRAPH_MODELS_H
#define WAVESAN_HIP_GRAPH_MODELS_H

#include "command_ranges.h"
#include "event_producers.h"

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

namespace wavesan::hip {

/// Explicit arguments of a kernel in its kernarg block.
struct ArgumentLayout {
  struct Piece {
    uint32_t offset, bytes;
  };
  bool known = false;
  std::vector<Piece> pieces;
};

/// What tells one launch of a kernel from another one.
struct KernelLaunch {
  std::string kernel; ///< linkage name; empty: not known
  abi::DispatchShapeSeen shape{};
  ArgumentLayout layout;
  std::vector<uint8_t> arguments; ///< one after the other, without gaps
  bool operator==(const KernelLaunch &) const;
  /// The launch that a dispatch is.
  static KernelLaunch seen(const abi::DispatchShapeSeen &shape, const char *name, const void *kernarg,
                           const std::function<ArgumentLayout(const std::string &)> &layouts);
  /// Whether a dispatch may be this launch.
  bool fits(const abi::DispatchShapeSeen &seen, const char *name, const void *kernarg) const;
};

/// A graph that can be launched. Immutable but for launches' counters, which live elsewhere.
struct LaunchableGraph {
  std::shared_ptr<const streams::GraphOrder> order; ///< null: not known, or too large
  std::vector<streams::Range> ranges;               ///< of copies and fills
  size_t kernelNodes = 0;
  bool rangesComplete = true; ///< false: some touch more than these
  std::vector<Event> waits;   ///< that nodes wait for
  bool hostNodes = false;     ///< it calls functions of the host
  /// Kernel nodes that are launched alike.
  struct Group {
    KernelLaunch launch;
    std::vector<streams::NodeIndex> nodes; ///< sorted
    bool chain = true;                     ///< each is ordered with each: they are submitted in this order
  };
  std::vector<Group> groups;
};

/// Which dispatches of a launch have been seen.
class LaunchMatcher {
public:
  explicit LaunchMatcher(std::shared_ptr<const LaunchableGraph> graph)
      : Graph(std::move(graph)), Seen(Graph->groups.size()) {}
  /// The node that the dispatch is, as in streams::CommandPart::nodes.
  std::vector<streams::NodeIndex> match(const abi::DispatchShapeSeen &seen, const char *name, const void *kernarg);
  /// Whether the dispatch may be one of its nodes.
  bool mayHave(const abi::DispatchShapeSeen &seen, const char *name, const void *kernarg) const;
  /// Every kernel node has had its dispatch.
  bool complete() const { return Total == Graph->kernelNodes; }
  const LaunchableGraph &graph() const { return *Graph; }

private:
  std::shared_ptr<const LaunchableGraph> Graph;
  std::vector<size_t> Seen; ///< dispatches of each group
  size_t Total = 0;
};

/// Not thread-safe.
class GraphModels {
public:
  using Layouts = std::function<ArgumentLayout(const std::string &kernel)>;

  /// A call that has succeeded and is not part of a capture. `calls`: where it was made.
  void call(CallId id, const CallArguments &arguments, StreamId stream, const streams::Calls &calls,
            const Layouts &layouts);
  /// A call that HIP has recorded into a capture of its own: of the stream, or (a wait) by which the stream joins.
  void captured(CallId id, const CallArguments &arguments, StreamId stream, const streams::Calls &calls,
                const KnownMemory &memory, const Layouts &layouts);
  /// What a kernel node launches: of a graph, or as an executable graph has it (`exec` not null). Null: no kernel node
  /// that is known.
  const KernelLaunch *launchOf(const void *node, const void *exec) const;
  /// Whether calls of this one are to be passed on: those about graphs.
  static bool concerns(CallId id);

  /// Null: never seen.
  std::shared_ptr<const LaunchableGraph> launchable(const void *exec);

  /// Everything but the kernels' names.
  void forgetGraphs() {
    Graphs.clear();
    Owners.clear();
    Execs.clear();
    Captures.clear();
  }
  void addKernelName(const void *function, const char *name) { Names[function] = name; }
  /// Linkage name; null: not known.
  const char *kernelName(const void *function) const {
    auto found = Names.find(function);
    return found == Names.end() ? nullptr : found->second.c_str();
  }

private:
  struct Model;
  struct Node {
    const void *handle = nullptr;
    abi::CommandKind kind = abi::CommandKind::Graph; ///< Graph: touches nothing
    const char *function = "";
    streams::Calls call;
    std::vector<size_t> dependencies;
    std::optional<KernelLaunch> kernel;
    std::vector<streams::Range> ranges;
    bool rangesComplete = true, host = false, removed = false;
    Event wait = nullptr;
    std::shared_ptr<const Model> child;
  };
  struct Model {
    std::vector<Node> nodes;
    bool unknown = false;
  };
  struct Capture {
    Model model;
    std::unordered_map<StreamId, std::vector<size_t>> tails;
    std::unordered_map<Event, std::vector<size_t>> events;
  };
  struct Exec {
    Model model;
    std::shared_ptr<const LaunchableGraph> launchable;
  };

  using Change = std::function<void(Node &)>;
  static std::optional<size_t> indexOf(const Model &model, const void *node);
  void addNode(const CallArguments &arguments, Node node);
  void changeNode(const void *node, const Change &change);
  void changeExec(const void *exec, const void *node, const Change &change);
  void instantiate(const void *exec, const void *graph);
  void edges(const CallArguments &arguments, bool add);
  KernelLaunch kernelOf(const void *function, const abi::DispatchShapeSeen &shape, const void *const *arguments,
                        const Layouts &layouts) const;
  void setKernel(Node &node, const KernelNodeParams &params, const Layouts &layouts) const;
  static void setFill(Node &node, const FillParams &params);
  static void setCopy(Node &node, const Copy3DParams &params);
  static void setCopy(Node &node, const void *to, const void *from, uint64_t bytes);
  static std::shared_ptr<const LaunchableGraph> prepared(const Model &model);
  static void flatten(const Model &model, const std::vector<streams::NodeIndex> &before,
                      std::vector<streams::NodeIndex> &leaves, std::vector<streams::GraphOrder::Node> &flat,
                      std::vector<const Node *> &nodes);

  std::unordered_map<const void *, Model> Graphs;
  std::unordered_map<const void *, const void *> Owners; ///< node -> graph
  std::unordered_map<const void *, Exec> Execs;
  std::unordered_map<StreamId, std::shared_ptr<Capture>> Captures;
  std::unordered_map<const void *, std::string> Names; ///< kernels
};

} // namespace wavesan::hip

#endif // WAVESAN_HIP_GRAPH_MODELS_H
