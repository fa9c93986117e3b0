// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs as HIP's calls make them, and which dispatch is which node.
#include "graph_models.h"

#include "graph_launches.h"
#include "known_accesses.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace wavesan::hip {
namespace {

using streams::NodeIndex;

struct GraphModelsTest : testing::Test {
  GraphModels models;
  KnownMemory memory;
  uintptr_t lastHandle = 0x1000;
  const void *graph = nullptr;
  const int add = 0, scale = 0; ///< "kernels"

  GraphModelsTest() {
    models.addKernelName(&add, "add");
    models.addKernelName(&scale, "scale");
    graph = newGraph();
  }
  static ArgumentLayout layout(const std::string &) { return {true, {{0, 8}, {8, 4}}}; }
  const void *handle() { return reinterpret_cast<const void *>(lastHandle += 64); }

  template <class... A> void call(CallId id, A... a) {
    CallArguments arguments;
    (arguments.add(a), ...);
    models.call(id, arguments, 1, nullptr, layout);
  }
  template <class... A> void captured(CallId id, StreamId stream, A... a) {
    CallArguments arguments;
    (arguments.add(a), ...);
    models.captured(id, arguments, stream, nullptr, memory, layout);
  }
  const void *newGraph() {
    const void *made = handle();
    call(CallId::hipGraphCreate, static_cast<const void *>(&made), 0u);
    return made;
  }
  const void *kernel(std::vector<const void *> before, const int *function, uint64_t pointer, uint32_t groups = 2,
                     const void *to = nullptr) {
    const void *node = handle();
    uint32_t number = 7;
    void *arguments[] = {&pointer, &number};
    const KernelNodeParams params = {{64, 1, 1}, nullptr, function, {groups, 1, 1}, arguments, 0};
    call(CallId::hipGraphAddKernelNode, static_cast<const void *>(&node), to ? to : graph,
         static_cast<const void *>(before.data()), before.size(), static_cast<const void *>(&params));
    return node;
  }
  std::shared_ptr<const LaunchableGraph> instantiated(const void *of = nullptr) {
    const void *exec = handle();
    call(CallId::hipGraphInstantiate, static_cast<const void *>(&exec), of ? of : graph,
         static_cast<const void *>(nullptr), static_cast<const void *>(nullptr), uint64_t(0));
    lastExec = exec;
    return models.launchable(exec);
  }
  const void *lastExec = nullptr;
  struct Kernarg {
    uint64_t pointer;
    uint32_t number = 7;
  };
  static std::vector<NodeIndex> match(LaunchMatcher &m, const char *name, uint64_t pointer, uint32_t groups = 2) {
    const Kernarg kernarg = {pointer};
    return m.match({{groups * 64, 1, 1}, {64, 1, 1}}, name, &kernarg);
  }
};
using Nodes = std::vector<NodeIndex>;

} // namespace

TEST_F(GraphModelsTest, DispatchesAreToldApartByNameShapeAndArguments) {
  const void *a = kernel({}, &add, 1), *b = kernel({a}, &add, 2);
  kernel({a}, &scale, 1);
  kernel({b}, &add, 1, 4);
  const auto g = instantiated();
  ASSERT_TRUE(g && g->order);
  LaunchMatcher m(g);
  EXPECT_EQ(match(m, "scale", 1), Nodes{2}); // whatever the order of submission
  EXPECT_EQ(match(m, "add", 2), Nodes{1});
  EXPECT_EQ(match(m, "add", 1), Nodes{0});
  EXPECT_FALSE(m.complete());
  EXPECT_EQ(match(m, "add", 1, 4), Nodes{3});
  EXPECT_TRUE(m.complete());
  EXPECT_EQ(match(m, "other", 1), Nodes{});
  EXPECT_TRUE(g->order->before(0, 3));
  EXPECT_FALSE(g->order->ordered(1, 2));
}

TEST_F(GraphModelsTest, AlikeNodesOfAChainAreSubmittedInItsOrderAndOthersStayUncertain) {
  const void *a = kernel({}, &add, 1);
  kernel({a}, &add, 1);
  kernel({}, &scale, 1);
  kernel({}, &scale, 1);
  LaunchMatcher m(instantiated());
  EXPECT_EQ(match(m, "add", 1), Nodes{0});
  EXPECT_EQ(match(m, "scale", 1), (Nodes{2, 3}));
  EXPECT_EQ(match(m, "add", 1), Nodes{1});
  EXPECT_EQ(match(m, "add", 1), Nodes{}); // more than there are
}

TEST_F(GraphModelsTest, EdgesCanBeAddedAndRemovedAndNodesDestroyed) {
  const void *a = kernel({}, &add, 1), *b = kernel({}, &add, 2), *c = kernel({a, b}, &add, 3);
  const auto one = [](const void *const &node) { return static_cast<const void *>(&node); };
  call(CallId::hipGraphAddDependencies, graph, one(b), one(a), uint64_t(1)); // against the order of making
  call(CallId::hipGraphRemoveDependencies, graph, one(b), one(c), uint64_t(1));
  auto g = instantiated();
  LaunchMatcher m(g);
  const NodeIndex first = match(m, "add", 2).front(), second = match(m, "add", 1).front();
  EXPECT_TRUE(g->order->before(first, second));
  EXPECT_TRUE(g->order->before(second, match(m, "add", 3).front()));
  call(CallId::hipGraphDestroyNode, a);
  g = instantiated();
  ASSERT_TRUE(g->order);
  EXPECT_EQ(g->order->size(), 2u);
  EXPECT_FALSE(g->order->ordered(0, 1));
}

TEST_F(GraphModelsTest, ChildGraphsStandInThePlaceOfTheirNode) {
  const void *child = newGraph();
  const void *inner = kernel({}, &scale, 1, 2, child);
  kernel({inner}, &scale, 2, 2, child);
  const void *before = kernel({}, &add, 1), *node = handle();
  call(CallId::hipGraphAddChildGraphNode, static_cast<const void *>(&node), graph, static_cast<const void *>(&before),
       uint64_t(1), child);
  kernel({node}, &add, 2);
  const auto g = instantiated();
  ASSERT_TRUE(g && g->order);
  ASSERT_EQ(g->order->size(), 4u);
  LaunchMatcher m(g);
  const NodeIndex order[] = {match(m, "add", 1)[0], match(m, "scale", 1)[0], match(m, "scale", 2)[0],
                             match(m, "add", 2)[0]};
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(g->order->before(order[i], order[i + 1]));
}

TEST_F(GraphModelsTest, RangesOfCopiesAndFills) {
  const void *node = handle(), *none = nullptr;
  const FillParams fill = {reinterpret_cast<void *>(0x100), 4, 2, 64, 0, 8};
  call(CallId::hipGraphAddMemsetNode, static_cast<const void *>(&node), graph, none, uint64_t(0),
       static_cast<const void *>(&fill));
  call(CallId::hipGraphAddMemcpyNode1D, static_cast<const void *>(&node), graph, none, uint64_t(0),
       reinterpret_cast<const void *>(0x1000), reinterpret_cast<const void *>(0x2000), uint64_t(16), 3);
  const auto g = instantiated();
  ASSERT_EQ(g->ranges.size(), 4u);
  EXPECT_EQ(g->ranges[1].begin, 0x140u);
  EXPECT_EQ(g->ranges[1].end, 0x160u);
  EXPECT_EQ(g->ranges[1].node, 0u);
  EXPECT_EQ(g->ranges[2].begin, 0x1000u);
  EXPECT_EQ(g->ranges[3].bits, abi::kAccessRead);
  EXPECT_EQ(g->ranges[3].node, 1u);
  EXPECT_EQ(g->kernelNodes, 0u);
}

TEST_F(GraphModelsTest, ChangedParametersCountForTheExecutableThatIsChanged) {
  const void *a = kernel({}, &add, 1);
  instantiated();
  const void *exec = lastExec;
  uint64_t pointer = 5;
  uint32_t number = 7;
  void *arguments[] = {&pointer, &number};
  const KernelNodeParams params = {{64, 1, 1}, nullptr, &add, {2, 1, 1}, arguments, 0};
  call(CallId::hipGraphExecKernelNodeSetParams, exec, a, static_cast<const void *>(&params));
  LaunchMatcher changed(models.launchable(exec)), fresh(instantiated());
  EXPECT_EQ(match(changed, "add", 1), Nodes{});
  EXPECT_EQ(match(changed, "add", 5), Nodes{0});
  EXPECT_EQ(match(fresh, "add", 1), Nodes{0});
}

TEST_F(GraphModelsTest, WhatALaunchHasTouchedIsFoundByNodesThatLaunchTheSame) {
  const void *a = kernel({}, &add, 1), *b = kernel({a}, &add, 2), *c = kernel({b}, &add, 1, 4);
  instantiated();
  const void *exec = lastExec;
  KnownAccesses known(1 << 20);
  const auto ran = [&](uint64_t pointer, uint64_t dispatch, const abi::DispatchAccesses *accesses) {
    const Kernarg kernarg = {pointer};
    known.bound(1, dispatch,
                KnownAccesses::keyOf(KernelLaunch::seen({{128, 1, 1}, {64, 1, 1}}, "add", &kernarg, layout)));
    known.delivered(1, dispatch, accesses);
  };
  const auto of = [&](const void *node, const void *in = nullptr) {
    const KernelLaunch *launch = models.launchOf(node, in);
    return launch ? known.find(KnownAccesses::keyOf(*launch)) : nullptr;
  };
  EXPECT_EQ(of(a), nullptr);
  const abi::AccessRun runs[] = {{8, 16, 1, abi::kAccessWrite, abi::Scope::System},
                                 {0, 8, 2, abi::kAccessWrite, abi::Scope::System},
                                 {32, 40, 2, abi::kAccessRead, abi::Scope::System}};
  const abi::DispatchAccesses accesses = {runs, 3, nullptr, 0, 0};
  ran(1, 1, &accesses);
  ASSERT_NE(of(a), nullptr);
  ASSERT_EQ(of(a)->touched.size(), 2u); // joined
  EXPECT_EQ(of(b), nullptr);            // another argument
  EXPECT_EQ(of(c), nullptr);            // another grid
  EXPECT_EQ(of(handle()), nullptr);
  EXPECT_NE(of(a, exec), nullptr);
  // The executable graph's node is changed, the graph's is not.
  uint64_t pointer = 2;
  uint32_t number = 7;
  void *arguments[] = {&pointer, &number};
  const KernelNodeParams params = {{64, 1, 1}, nullptr, &add, {2, 1, 1}, arguments, 0};
  call(CallId::hipGraphExecKernelNodeSetParams, exec, a, static_cast<const void *>(&params));
  EXPECT_NE(of(a), nullptr);
  EXPECT_EQ(of(a, exec), nullptr);
  // What is not known of the last run is not known of the launch.
  ran(2, 2, &accesses);
  EXPECT_NE(of(a, exec), nullptr);
  const abi::DispatchAccesses partly = {runs, 3, nullptr, 0, 1};
  ran(2, 3, &partly);
  EXPECT_EQ(of(a, exec), nullptr);
  ran(1, 4, nullptr);
  EXPECT_EQ(of(a), nullptr);
  // Too much of it: all is forgotten.
  KnownAccesses small(16);
  small.bound(1, 1, "x");
  small.delivered(1, 1, &accesses);
  EXPECT_EQ(small.find("x"), nullptr);
}

// A file for a launch whose dispatches all have capsules, and a reason for every other one.
TEST_F(GraphModelsTest, LaunchesBesideTheCapsulesOfTheirDispatches) {
  const std::filesystem::path directory = std::filesystem::path(testing::TempDir()) / "wavesan_graph_launches";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  for (const char *name : {"add-5-1.capsule", "add-5-2.capsule", "add-5-3.capsule", "add-6-4.capsule"})
    std::ofstream(directory / name) << "x";
  const void *a = kernel({}, &add, 1);
  kernel({}, &add, 2);
  const auto graph = instantiated();
  ASSERT_NE(a, nullptr);
  GraphLaunches launches(directory.string(), 5);
  const abi::DispatchShapeSeen shape = {{128, 1, 1}, {64, 1, 1}};
  const abi::AccessRun run = {16, 32, 1, abi::kAccessWrite, abi::Scope::System};
  const abi::DispatchAccesses accesses = {&run, 1, nullptr, 0, 0};
  const auto launch = [&](uint64_t ticket, uint64_t first, uint64_t second) {
    launches.begin(ticket, graph);
    launches.bound(ticket, first, {0}, "add", shape);
    launches.bound(ticket, second, {1}, "add", shape);
    launches.delivered(ticket, first, &accesses);
  };
  launch(10, 1, 2);
  launches.delivered(10, 2, &accesses);
  launch(11, 1, 4); // 4 is another process's
  launches.delivered(11, 4, &accesses);
  launch(12, 1, 3); // it is not known what 3 touched
  launches.begin(13, graph);
  launches.bound(13, 1, {0, 1}, "add", shape);
  launches.begin(14, graph);
  launches.cancelled(14);
  launches.begin(15, graph); // more than are wanted
  const std::string to = directory.string();
  EXPECT_EQ(launches.finish(5),
            (std::vector<std::string>{"no capsule for graph launch 2: dispatch 4 has none",
                                      "no capsule for graph launch 3: what kernel node 2 touched is not known",
                                      "no capsule for graph launch 4: it is not known which node dispatch 1 is",
                                      "capsules: 1 of graph launches written to " + to}));
  std::ostringstream text;
  text << std::ifstream(directory / "graph-5-1.graph.json").rdbuf();
  EXPECT_NE(text.str().find("\"process\": 5"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("\"dispatch\": 2, \"dependencies\": []"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("{\"missingEdge\": [1, 2], \"address\": \"0x10\", \"bytes\": 16"), std::string::npos)
      << text.str();
  EXPECT_TRUE(launches.finish(5).empty());
  std::filesystem::remove_all(directory);
}

TEST_F(GraphModelsTest, WhatIsNotFollowedMakesAGraphUnknown) {
  kernel({}, &add, 1);
  ASSERT_TRUE(instantiated()->order);
  const void *exec = lastExec;
  call(CallId::hipGraphExecUpdate, exec, graph, static_cast<const void *>(nullptr), static_cast<const void *>(nullptr));
  EXPECT_FALSE(models.launchable(exec)->order);
  kernel({handle()}, &add, 1); // depends on a node of unknown making
  EXPECT_FALSE(instantiated()->order);
  EXPECT_FALSE(instantiated(handle())->order); // a graph of unknown making
  EXPECT_EQ(models.launchable(handle()), nullptr);
  call(CallId::hipGraphExecDestroy, exec);
  EXPECT_EQ(models.launchable(exec), nullptr);
}

TEST_F(GraphModelsTest, CapturedStreamsForkAndJoin) {
  const Event fork = reinterpret_cast<Event>(1), join = reinterpret_cast<Event>(2);
  const Stream stream = nullptr;
  uint64_t pointer = 1;
  uint32_t number = 7;
  void *arguments[] = {&pointer, &number};
  const auto launch = [&](StreamId s, uint64_t p) {
    pointer = p;
    captured(CallId::hipLaunchKernel, s, static_cast<const void *>(&add), Dim3{2, 1, 1}, Dim3{64, 1, 1},
             static_cast<const void *>(arguments), uint64_t(0), stream);
  };
  call(CallId::hipStreamBeginCapture, stream, 0); // stream 1
  launch(1, 10);
  captured(CallId::hipEventRecord, 1, fork, stream);
  captured(CallId::hipStreamWaitEvent, 2, stream, fork, 0u);
  launch(2, 20);
  launch(1, 11);
  captured(CallId::hipEventRecord, 2, join, stream);
  captured(CallId::hipStreamWaitEvent, 1, stream, join, 0u);
  captured(CallId::hipMemsetAsync, 1, reinterpret_cast<const void *>(0x100), 0, uint64_t(8), stream);
  const void *made = handle();
  call(CallId::hipStreamEndCapture, stream, static_cast<const void *>(&made));
  const auto g = instantiated(made);
  ASSERT_TRUE(g && g->order);
  LaunchMatcher m(g);
  const NodeIndex first = match(m, "add", 10)[0], forked = match(m, "add", 20)[0], second = match(m, "add", 11)[0];
  EXPECT_TRUE(g->order->before(first, forked) && g->order->before(first, second));
  EXPECT_FALSE(g->order->ordered(forked, second));
  ASSERT_EQ(g->ranges.size(), 1u);
  EXPECT_TRUE(g->order->before(forked, g->ranges[0].node) && g->order->before(second, g->ranges[0].node));
}

TEST_F(GraphModelsTest, EventsAndHostFunctionsOfNodes) {
  const void *node = handle(), *none = nullptr;
  const HostParams host = {};
  call(CallId::hipGraphAddEventWaitNode, static_cast<const void *>(&node), graph, none, uint64_t(0),
       reinterpret_cast<Event>(3));
  EXPECT_FALSE(instantiated()->hostNodes);
  call(CallId::hipGraphAddHostNode, static_cast<const void *>(&node), graph, none, uint64_t(0),
       static_cast<const void *>(&host));
  const auto g = instantiated();
  EXPECT_EQ(g->waits, std::vector{reinterpret_cast<Event>(3)});
  EXPECT_TRUE(g->hostNodes);
}

} // namespace wavesan::hip
