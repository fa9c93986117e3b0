// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph_models.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace wavesan::hip {

namespace {

using streams::NodeIndex;

/// As in command_ranges.cpp.
constexpr uint64_t kMaxRows = 1 << 14;
constexpr uint64_t kExternal = 1; ///< flag of hipStreamWaitEvent and hipEventRecordWithFlags

const void *const *handles(const void *p) { return static_cast<const void *const *>(p); }

} // namespace

bool KernelLaunch::operator==(const KernelLaunch &other) const {
  return kernel == other.kernel && std::memcmp(&shape, &other.shape, sizeof shape) == 0 &&
         layout.known == other.layout.known && arguments == other.arguments;
}

KernelLaunch KernelLaunch::seen(const abi::DispatchShapeSeen &shape, const char *name, const void *kernarg,
                                const std::function<ArgumentLayout(const std::string &)> &layouts) {
  KernelLaunch launch;
  launch.kernel = name;
  launch.shape = shape;
  launch.layout = layouts(launch.kernel);
  for (const ArgumentLayout::Piece &piece : launch.layout.pieces) {
    const auto *bytes = static_cast<const uint8_t *>(kernarg) + piece.offset;
    launch.arguments.insert(launch.arguments.end(), bytes, bytes + piece.bytes);
  }
  return launch;
}

bool KernelLaunch::fits(const abi::DispatchShapeSeen &seen, const char *name, const void *kernarg) const {
  if (!kernel.empty() && name && kernel != name)
    return false;
  if (shape.workgroup[0] != 0 && std::memcmp(&shape, &seen, sizeof shape) != 0)
    return false;
  if (!layout.known || !kernarg)
    return true;
  size_t at = 0;
  for (const ArgumentLayout::Piece &piece : layout.pieces) {
    if (std::memcmp(static_cast<const char *>(kernarg) + piece.offset, &arguments[at], piece.bytes) != 0)
      return false;
    at += piece.bytes;
  }
  return true;
}

std::vector<NodeIndex> LaunchMatcher::match(const abi::DispatchShapeSeen &seen, const char *name, const void *kernarg) {
  ++Total;
  std::vector<NodeIndex> nodes;
  size_t fitting = 0, group = 0;
  for (size_t g = 0; g < Graph->groups.size(); ++g)
    if (Graph->groups[g].launch.fits(seen, name, kernarg)) {
      ++fitting;
      group = g;
      nodes.insert(nodes.end(), Graph->groups[g].nodes.begin(), Graph->groups[g].nodes.end());
    }
  std::sort(nodes.begin(), nodes.end());
  if (fitting != 1 || !Graph->groups[group].chain)
    return nodes;
  const size_t n = Seen[group]++;
  return n < nodes.size() ? std::vector{nodes[n]} : std::vector<NodeIndex>();
}

bool LaunchMatcher::mayHave(const abi::DispatchShapeSeen &seen, const char *name, const void *kernarg) const {
  return std::any_of(Graph->groups.begin(), Graph->groups.end(),
                     [&](const LaunchableGraph::Group &g) { return g.launch.fits(seen, name, kernarg); });
}

bool GraphModels::concerns(CallId id) {
  const Category category = infoOf(id).category;
  return category == Category::Graph || category == Category::Capture || id == CallId::hipModuleGetFunction;
}

std::optional<size_t> GraphModels::indexOf(const Model &model, const void *node) {
  for (size_t n = model.nodes.size(); n > 0; --n)
    if (model.nodes[n - 1].handle == node && !model.nodes[n - 1].removed)
      return n - 1;
  return std::nullopt;
}

/// hipGraphAdd*Node: node, graph, dependencies, their number, ...
void GraphModels::addNode(const CallArguments &a, Node node) {
  auto found = Graphs.find(a.pointers[1]);
  if (found == Graphs.end() || !a.pointers[0])
    return;
  Model &model = found->second;
  node.handle = *handles(a.pointers[0]);
  for (uint64_t i = 0; i < a.numbers[0]; ++i) {
    const auto d = indexOf(model, handles(a.pointers[2])[i]);
    model.unknown = model.unknown || !d;
    if (d)
      node.dependencies.push_back(*d);
  }
  Owners[node.handle] = a.pointers[1];
  model.nodes.push_back(std::move(node));
}

void GraphModels::changeNode(const void *node, const Change &change) {
  auto owner = Owners.find(node);
  auto graph = owner == Owners.end() ? Graphs.end() : Graphs.find(owner->second);
  if (graph == Graphs.end()) { // of a graph that was not followed, or a clone's
    for (auto &[_, model] : Graphs)
      model.unknown = true;
    return;
  }
  if (const auto n = indexOf(graph->second, node))
    change(graph->second.nodes[*n]);
  else
    graph->second.unknown = true;
}

void GraphModels::changeExec(const void *exec, const void *node, const Change &change) {
  auto found = Execs.find(exec);
  if (found == Execs.end())
    return;
  found->second.launchable = nullptr;
  Model &model = found->second.model;
  if (const auto n = indexOf(model, node))
    change(model.nodes[*n]);
  else
    model.unknown = true; // perhaps inside of a child graph
}

void GraphModels::edges(const CallArguments &a, bool add) {
  auto found = Graphs.find(a.pointers[0]);
  if (found == Graphs.end())
    return;
  Model &model = found->second;
  for (uint64_t i = 0; i < a.numbers[0]; ++i) {
    const auto from = indexOf(model, handles(a.pointers[1])[i]), to = indexOf(model, handles(a.pointers[2])[i]);
    if (!from || !to) {
      model.unknown = true;
      continue;
    }
    auto &list = model.nodes[*to].dependencies;
    if (add)
      list.push_back(*from);
    else
      std::erase(list, *from);
  }
}

KernelLaunch GraphModels::kernelOf(const void *function, const abi::DispatchShapeSeen &shape,
                                   const void *const *arguments, const Layouts &layouts) const {
  KernelLaunch launch;
  launch.shape = shape;
  if (auto name = Names.find(function); name != Names.end())
    launch.kernel = name->second;
  if (launch.kernel.empty() || !layouts)
    return launch;
  launch.layout = layouts(launch.kernel);
  launch.layout.known = launch.layout.known && (arguments || launch.layout.pieces.empty());
  if (!launch.layout.known)
    return launch;
  for (size_t i = 0; i < launch.layout.pieces.size(); ++i) {
    const auto *bytes = static_cast<const uint8_t *>(arguments[i]);
    launch.arguments.insert(launch.arguments.end(), bytes, bytes + launch.layout.pieces[i].bytes);
  }
  return launch;
}

void GraphModels::setKernel(Node &node, const KernelNodeParams &p, const Layouts &layouts) const {
  node.kind = abi::CommandKind::Kernel;
  const abi::DispatchShapeSeen shape = {{p.grid.x * p.workgroup.x, p.grid.y * p.workgroup.y, p.grid.z * p.workgroup.z},
                                        {p.workgroup.x, p.workgroup.y, p.workgroup.z}};
  node.kernel = kernelOf(p.function, shape, p.extra ? nullptr : p.arguments, layouts);
}

void GraphModels::setFill(Node &node, const FillParams &p) {
  node.kind = abi::CommandKind::Set;
  node.ranges.clear();
  const auto begin = reinterpret_cast<uint64_t>(p.to);
  const uint64_t width = p.width * p.elementSize;
  node.rangesComplete = p.height <= kMaxRows;
  for (uint64_t y = 0; y < std::min(p.height, kMaxRows); ++y)
    node.ranges.push_back({begin + y * p.pitch, begin + y * p.pitch + width, abi::kAccessWrite});
}

void GraphModels::setCopy(Node &node, const void *to, const void *from, uint64_t bytes) {
  node.kind = abi::CommandKind::Copy;
  node.ranges.clear();
  const auto t = reinterpret_cast<uint64_t>(to), f = reinterpret_cast<uint64_t>(from);
  node.rangesComplete = to && from;
  if (to)
    node.ranges.push_back({t, t + bytes, abi::kAccessWrite});
  if (from)
    node.ranges.push_back({f, f + bytes, abi::kAccessRead});
}

void GraphModels::setCopy(Node &node, const Copy3DParams &p) {
  node.kind = abi::CommandKind::Copy;
  node.ranges.clear();
  node.rangesComplete = !p.fromArray && !p.toArray && p.extent.height * p.extent.depth <= kMaxRows;
  if (!node.rangesComplete)
    return;
  auto side = [&](const PitchedPtr &at, const Position &position, uint8_t bits) {
    for (uint64_t z = 0; z < p.extent.depth; ++z)
      for (uint64_t y = 0; y < p.extent.height; ++y) {
        const uint64_t begin = reinterpret_cast<uint64_t>(at.pointer) + (position.z + z) * at.pitch * at.ySize +
                               (position.y + y) * at.pitch + position.x;
        node.ranges.push_back({begin, begin + p.extent.width, bits});
      }
  };
  side(p.to, p.toPosition, abi::kAccessWrite);
  side(p.from, p.fromPosition, abi::kAccessRead);
}

void GraphModels::instantiate(const void *exec, const void *graph) {
  Exec made;
  if (auto found = Graphs.find(graph); found != Graphs.end())
    made.model = found->second;
  else
    made.model.unknown = true;
  Execs[exec] = std::move(made);
}

void GraphModels::call(CallId id, const CallArguments &a, StreamId stream, const streams::Calls &calls,
                       const Layouts &layouts) {
  const void *const *p = a.pointers;
  Node node;
  node.function = infoOf(id).name;
  node.call = calls;
  auto params = [&]<class T>(const T *, int at) { return *static_cast<const T *>(p[at]); };
  const KernelNodeParams *kernel = nullptr;
  const FillParams *fill = nullptr;
  const Copy3DParams *copy = nullptr;
  switch (id) {
  case CallId::hipModuleGetFunction:
    if (p[0] && p[2])
      Names[*handles(p[0])] = static_cast<const char *>(p[2]);
    break;
  case CallId::hipGraphCreate:
    Graphs[*handles(p[0])] = {};
    break;
  case CallId::hipGraphDestroy:
    Graphs.erase(p[0]);
    std::erase_if(Owners, [&](const auto &o) { return o.second == p[0]; });
    break;
  case CallId::hipGraphAddKernelNode:
    setKernel(node, params(kernel, 3), layouts);
    addNode(a, std::move(node));
    break;
  case CallId::hipGraphAddMemcpyNode:
    setCopy(node, params(copy, 3));
    addNode(a, std::move(node));
    break;
  case CallId::hipGraphAddMemcpyNode1D:
    setCopy(node, p[3], p[4], a.numbers[1]);
    addNode(a, std::move(node));
    break;
  case CallId::hipGraphAddMemcpyNodeFromSymbol: // where the variable lies is not known here
    setCopy(node, p[3], nullptr, a.numbers[1]);
    addNode(a, std::move(node));
    break;
  case CallId::hipGraphAddMemcpyNodeToSymbol:
    setCopy(node, nullptr, p[4], a.numbers[1]);
    addNode(a, std::move(node));
    break;
  case CallId::hipGraphAddMemsetNode:
    setFill(node, params(fill, 3));
    addNode(a, std::move(node));
    break;
  case CallId::hipGraphAddHostNode:
    node.host = true;
    addNode(a, std::move(node));
    break;
  case CallId::hipGraphAddEventWaitNode:
    node.wait = a.events[0];
    addNode(a, std::move(node));
    break;
  case CallId::hipGraphAddEmptyNode:
  case CallId::hipGraphAddEventRecordNode:
    addNode(a, std::move(node));
    break;
  case CallId::hipGraphAddChildGraphNode: {
    auto child = Graphs.find(p[3]); // HIP makes a copy, too
    auto unknown = std::make_shared<Model>();
    unknown->unknown = true;
    node.child = child == Graphs.end() ? unknown : std::make_shared<Model>(child->second);
    addNode(a, std::move(node));
    break;
  }
  case CallId::hipGraphAddDependencies:
    edges(a, true);
    break;
  case CallId::hipGraphRemoveDependencies:
    edges(a, false);
    break;
  case CallId::hipGraphDestroyNode:
    changeNode(p[0], [](Node &n) { n.removed = true; });
    Owners.erase(p[0]);
    break;
  case CallId::hipGraphClone: {
    auto original = Graphs.find(p[1]);
    Model model;
    if (original == Graphs.end())
      model.unknown = true;
    else
      model = original->second;
    for (Node &n : model.nodes) // has other ones, which hipGraphNodeFindInClone gives away
      n.handle = nullptr;
    Graphs[*handles(p[0])] = std::move(model);
    break;
  }
  case CallId::hipGraphNodeFindInClone:
    if (auto clone = Graphs.find(p[2]); clone != Graphs.end()) {
      auto owner = Owners.find(p[1]);
      auto original = owner == Owners.end() ? Graphs.end() : Graphs.find(owner->second);
      const auto n = original == Graphs.end() ? std::nullopt : indexOf(original->second, p[1]);
      if (n && *n < clone->second.nodes.size()) {
        clone->second.nodes[*n].handle = *handles(p[0]);
        Owners[*handles(p[0])] = p[2];
      } else {
        clone->second.unknown = true;
      }
    }
    break;
  case CallId::hipGraphKernelNodeSetParams:
    changeNode(p[0], [&](Node &n) { setKernel(n, params(kernel, 1), layouts); });
    break;
  case CallId::hipGraphMemcpyNodeSetParams:
    changeNode(p[0], [&](Node &n) { setCopy(n, params(copy, 1)); });
    break;
  case CallId::hipGraphMemcpyNodeSetParams1D:
    changeNode(p[0], [&](Node &n) { setCopy(n, p[1], p[2], a.numbers[0]); });
    break;
  case CallId::hipGraphMemcpyNodeSetParamsFromSymbol:
    changeNode(p[0], [&](Node &n) { setCopy(n, p[1], nullptr, a.numbers[0]); });
    break;
  case CallId::hipGraphMemcpyNodeSetParamsToSymbol:
    changeNode(p[0], [&](Node &n) { setCopy(n, nullptr, p[2], a.numbers[0]); });
    break;
  case CallId::hipGraphMemsetNodeSetParams:
    changeNode(p[0], [&](Node &n) { setFill(n, params(fill, 1)); });
    break;
  case CallId::hipGraphEventWaitNodeSetEvent:
    changeNode(p[0], [&](Node &n) { n.wait = a.events[0]; });
    break;
  case CallId::hipGraphInstantiate:
  case CallId::hipGraphInstantiateWithFlags:
  case CallId::hipGraphInstantiateWithParams:
    instantiate(*handles(p[0]), p[1]);
    break;
  case CallId::hipGraphExecDestroy:
    Execs.erase(p[0]);
    break;
  case CallId::hipGraphExecKernelNodeSetParams:
    changeExec(p[0], p[1], [&](Node &n) { setKernel(n, params(kernel, 2), layouts); });
    break;
  case CallId::hipGraphExecMemcpyNodeSetParams:
    changeExec(p[0], p[1], [&](Node &n) { setCopy(n, params(copy, 2)); });
    break;
  case CallId::hipGraphExecMemcpyNodeSetParams1D:
    changeExec(p[0], p[1], [&](Node &n) { setCopy(n, p[2], p[3], a.numbers[0]); });
    break;
  case CallId::hipGraphExecMemcpyNodeSetParamsFromSymbol:
    changeExec(p[0], p[1], [&](Node &n) { setCopy(n, p[2], nullptr, a.numbers[0]); });
    break;
  case CallId::hipGraphExecMemcpyNodeSetParamsToSymbol:
    changeExec(p[0], p[1], [&](Node &n) { setCopy(n, nullptr, p[3], a.numbers[0]); });
    break;
  case CallId::hipGraphExecMemsetNodeSetParams:
    changeExec(p[0], p[1], [&](Node &n) { setFill(n, params(fill, 2)); });
    break;
  case CallId::hipGraphExecEventWaitNodeSetEvent:
    changeExec(p[0], p[1], [&](Node &n) { n.wait = a.events[0]; });
    break;
  case CallId::hipGraphExecUpdate:
  case CallId::hipGraphExecChildGraphNodeSetParams:
    if (auto exec = Execs.find(p[0]); exec != Execs.end()) {
      exec->second.model.unknown = true;
      exec->second.launchable = nullptr;
    }
    break;
  case CallId::hipGraphChildGraphNodeGetGraph: // may be changed through it
    changeNode(p[0], [](Node &n) {
      auto unknown = std::make_shared<Model>();
      unknown->unknown = true;
      n.child = unknown;
    });
    break;
  case CallId::hipStreamBeginCapture:
  case CallId::hipStreamBeginCapture_spt:
    Captures[stream] = std::make_shared<Capture>();
    Captures[stream]->tails[stream] = {};
    break;
  case CallId::hipStreamBeginCaptureToGraph:
    Captures[stream] = std::make_shared<Capture>();
    Captures[stream]->model.unknown = true;
    break;
  case CallId::hipStreamGetCaptureInfo_v2:
  case CallId::hipStreamGetCaptureInfo_v2_spt:
  case CallId::hipStreamUpdateCaptureDependencies:
    if (auto capture = Captures.find(stream); capture != Captures.end())
      capture->second->model.unknown = true;
    break;
  case CallId::hipStreamEndCapture:
  case CallId::hipStreamEndCapture_spt:
    if (auto found = Captures.find(stream); found != Captures.end()) {
      const std::shared_ptr<Capture> capture = found->second;
      if (p[0])
        Graphs[*handles(p[0])] = std::move(capture->model);
      std::erase_if(Captures, [&](const auto &c) { return c.second == capture; });
    } else if (p[0]) {
      Graphs[*handles(p[0])].unknown = true;
    }
    break;
  case CallId::hipGraphAddNode:
  case CallId::hipGraphAddMemAllocNode:
  case CallId::hipGraphAddMemFreeNode:
    if (auto graph = Graphs.find(p[1]); graph != Graphs.end())
      graph->second.unknown = true;
    break;
  default: // questions
    break;
  }
}

void GraphModels::captured(CallId id, const CallArguments &a, StreamId stream, const streams::Calls &calls,
                           const KnownMemory &memory, const Layouts &layouts) {
  const CallInfo &info = infoOf(id);
  std::shared_ptr<Capture> capture;
  auto found = Captures.find(stream);
  if (found != Captures.end())
    capture = found->second;
  const bool waits = info.action == Action::StreamWaitEvent;
  if (!capture && waits) // the stream joins
    for (const auto &[_, c] : Captures)
      if (c->events.contains(a.events[0])) {
        capture = c;
        Captures[stream] = c;
        break;
      }
  if (!capture)
    return;
  std::vector<size_t> &tails = capture->tails[stream];
  Node node;
  node.function = info.name;
  node.call = calls;
  if (waits && !(a.numbers[0] & kExternal)) {
    auto event = capture->events.find(a.events[0]);
    capture->model.unknown = capture->model.unknown || event == capture->events.end();
    if (event != capture->events.end())
      for (const size_t n : event->second)
        if (std::find(tails.begin(), tails.end(), n) == tails.end())
          tails.push_back(n);
    return;
  }
  if (info.action == Action::EventRecord && !(id == CallId::hipEventRecordWithFlags && a.numbers[0] == kExternal)) {
    capture->events[a.events[0]] = tails;
    return;
  }
  if (info.category == Category::Launch && info.action == Action::Command) {
    node.kind = abi::CommandKind::Kernel;
    node.kernel = kernelOf(a.pointers[0], launchArgumentsOf(id, a).shape, handles(a.pointers[1]), layouts);
  } else if (info.category == Category::Launch && info.action == Action::LaunchWithEvents && !a.events[0] &&
             !a.events[1]) {
    node.kind = abi::CommandKind::Kernel;
    node.kernel = kernelOf(a.pointers[0], launchArgumentsOf(id, a).shape, handles(a.pointers[1]), layouts);
  } else if (info.category == Category::Copy || info.category == Category::Set) {
    node.kind = info.category == Category::Copy ? abi::CommandKind::Copy : abi::CommandKind::Set;
    CommandRanges ranges = rangesOf(id, a, memory);
    node.ranges = std::move(ranges.ranges);
    node.rangesComplete = ranges.complete;
  } else if (info.category == Category::HostFunction) {
    node.host = true;
  } else if (waits) {
    node.wait = a.events[0];
  } else if (info.action != Action::EventRecord) {
    capture->model.unknown = true;
  }
  node.dependencies = tails;
  tails = {capture->model.nodes.size()};
  capture->model.nodes.push_back(std::move(node));
}

/// Puts the nodes into an order that the edges allow, those of child graphs in the place of their node. `before`: what
/// the graph as a whole depends on; `leaves`: what depends on the graph as a whole depends on.
void GraphModels::flatten(const Model &model, const std::vector<NodeIndex> &before, std::vector<NodeIndex> &leaves,
                          std::vector<streams::GraphOrder::Node> &flat, std::vector<const Node *> &nodes) {
  std::vector<size_t> open(model.nodes.size());
  std::vector<std::vector<size_t>> behind(model.nodes.size());
  std::set<size_t> ready;
  for (size_t n = 0; n < model.nodes.size(); ++n) {
    for (const size_t d : model.nodes[n].dependencies)
      if (!model.nodes[d].removed) {
        behind[d].push_back(n);
        ++open[n];
      }
    if (open[n] == 0)
      ready.insert(n);
  }
  std::vector<std::vector<NodeIndex>> ends(model.nodes.size()); ///< what depends on the node depends on these
  while (!ready.empty()) {
    const size_t n = *ready.begin();
    ready.erase(ready.begin());
    for (const size_t b : behind[n])
      if (--open[b] == 0)
        ready.insert(b);
    const Node &node = model.nodes[n];
    if (node.removed)
      continue;
    std::vector<NodeIndex> dependencies;
    for (const size_t d : node.dependencies)
      dependencies.insert(dependencies.end(), ends[d].begin(), ends[d].end());
    if (dependencies.empty())
      dependencies = before;
    if (node.child) {
      flatten(*node.child, dependencies, ends[n], flat, nodes);
      if (ends[n].empty())
        ends[n] = dependencies;
    } else {
      ends[n] = {NodeIndex(flat.size())};
      flat.push_back({node.kind, node.function, node.call, flat.size() + 1, std::move(dependencies)});
      nodes.push_back(&node);
    }
    if (behind[n].empty())
      leaves.insert(leaves.end(), ends[n].begin(), ends[n].end());
  }
}

std::shared_ptr<const LaunchableGraph> GraphModels::prepared(const Model &model) {
  auto out = std::make_shared<LaunchableGraph>();
  std::vector<streams::GraphOrder::Node> flat;
  std::vector<const Node *> nodes;
  std::vector<NodeIndex> leaves;
  flatten(model, {}, leaves, flat, nodes);
  for (const Node *node : nodes) {
    if (node->wait)
      out->waits.push_back(node->wait);
    out->hostNodes = out->hostNodes || node->host;
  }
  const auto unknown = [](const auto &self, const Model &m) -> bool {
    return m.unknown || std::any_of(m.nodes.begin(), m.nodes.end(),
                                    [&](const Node &n) { return n.child && !n.removed && self(self, *n.child); });
  };
  if (unknown(unknown, model) || flat.size() > streams::GraphOrder::kMaxNodes)
    return out;
  const auto order = std::make_shared<const streams::GraphOrder>(std::move(flat));
  bool exact = true; // no dispatch fits two groups
  for (NodeIndex n = 0; n < nodes.size(); ++n) {
    for (streams::Range range : nodes[n]->ranges) {
      range.node = n;
      if (range.begin != range.end)
        out->ranges.push_back(range);
    }
    out->rangesComplete = out->rangesComplete && nodes[n]->rangesComplete;
    if (!nodes[n]->kernel)
      continue;
    ++out->kernelNodes;
    const KernelLaunch &launch = *nodes[n]->kernel;
    exact = exact && !launch.kernel.empty() && launch.shape.workgroup[0] != 0;
    auto group =
        std::find_if(out->groups.begin(), out->groups.end(), [&](const auto &g) { return g.launch == launch; });
    if (group == out->groups.end())
      group = out->groups.insert(out->groups.end(), {launch, {}, true});
    group->chain = group->chain && (group->nodes.empty() || order->before(group->nodes.back(), n));
    group->nodes.push_back(n);
  }
  for (const auto &g : out->groups)
    for (const auto &other : out->groups)
      exact = exact && (g.launch.kernel != other.launch.kernel || g.launch.layout.known == other.launch.layout.known);
  for (auto &g : out->groups)
    g.chain = g.chain && exact;
  out->order = order;
  return out;
}

const KernelLaunch *GraphModels::launchOf(const void *node, const void *exec) const {
  const Model *model = nullptr;
  if (exec) {
    if (auto found = Execs.find(exec); found != Execs.end())
      model = &found->second.model;
  } else if (auto owner = Owners.find(node); owner != Owners.end()) {
    if (auto graph = Graphs.find(owner->second); graph != Graphs.end())
      model = &graph->second;
  }
  const auto n = model ? indexOf(*model, node) : std::nullopt;
  return n && model->nodes[*n].kernel ? &*model->nodes[*n].kernel : nullptr;
}

std::shared_ptr<const LaunchableGraph> GraphModels::launchable(const void *exec) {
  auto found = Execs.find(exec);
  if (found == Execs.end())
    return nullptr;
  if (!found->second.launchable)
    found->second.launchable = prepared(found->second.model);
  return found->second.launchable;
}

} // namespace wavesan::hip
