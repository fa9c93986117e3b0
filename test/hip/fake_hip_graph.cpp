// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fake_hip_graph.h"

#include "hip_functions.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

using namespace wavesan::hip;

namespace {

std::atomic<long> graphs{0}, execs{0}, launches{0}, eventsRecorded{0}, eventWaits{0};
std::atomic<long> nodes{0};
std::atomic<int> failure{0};

struct FakeNode {
  std::function<int()> run;
  std::vector<FakeNode *> before;
  FakeNode() { ++nodes; }
  FakeNode(const FakeNode &) = delete;
  ~FakeNode() { --nodes; }
};
struct FakeGraph {
  std::vector<std::shared_ptr<FakeNode>> nodes;
  FakeGraph() { ++graphs; }
  ~FakeGraph() { --graphs; }
};
struct FakeExec {
  std::vector<std::shared_ptr<FakeNode>> nodes;
  std::map<const FakeNode *, std::function<int()>> changed; ///< in place of the node's own
  explicit FakeExec(const FakeGraph &graph) : nodes(graph.nodes) { ++execs; }
  ~FakeExec() { --execs; }
};

int change(FakeExec &exec, const FakeNode *node, std::function<int()> run) {
  if (failure)
    return failure;
  for (const auto &own : exec.nodes)
    if (own.get() == node) {
      exec.changed[node] = std::move(run);
      return kHipSuccess;
    }
  return kFakeErrorInvalidHandle;
}

int fill(const FillParams &p) {
  for (uint64_t y = 0; y < p.height; ++y)
    for (uint64_t x = 0; x < p.width; ++x)
      std::memcpy(static_cast<char *>(p.to) + y * p.pitch + x * p.elementSize, &p.value, p.elementSize);
  return kHipSuccess;
}

int add(FakeNode **out, FakeGraph *graph, FakeNode *const *before, size_t count, std::function<int()> run) {
  auto node = std::make_shared<FakeNode>();
  node->run = std::move(run);
  node->before.assign(before, before + count);
  *out = node.get();
  graph->nodes.push_back(std::move(node));
  return kHipSuccess;
}

} // namespace

std::vector<unsigned long> fakeHipCopyArguments(const FakeKernel &kernel, void **arguments) {
  std::vector<unsigned long> copy(size_t(kernel.count));
  for (int i = 0; i < kernel.count; ++i)
    std::memcpy(&copy[size_t(i)], arguments[i], sizeof copy[0]);
  return copy;
}

extern "C" {

int hipLaunchHostFunc(Stream, void (*function)(void *), void *data) {
  function(data);
  return kHipSuccess;
}
int hipMemcpy2DAsync(void *, size_t, const void *, size_t, size_t, size_t, int, Stream) {
  return kHipErrorNotSupported;
}
int hipMemsetD32Async(void *, int, size_t, Stream) { return kHipErrorNotSupported; }
int hipMemset2DAsync(void *, size_t, int, size_t, size_t, Stream) { return kHipErrorNotSupported; }
int hipStreamIsCapturing(Stream, int *status) {
  *status = 0;
  return kHipSuccess;
}
int hipStreamGetCaptureInfo(Stream, int *status, unsigned long long *) {
  *status = 0;
  return kHipSuccess;
}
int hipStreamBeginCapture(Stream, int) { return kHipErrorNotSupported; }
int hipStreamEndCapture(Stream, void **) { return kHipErrorNotSupported; }
int hipThreadExchangeStreamCaptureMode(int *mode) {
  static thread_local int current = 0;
  std::swap(*mode, current);
  return kHipSuccess;
}

int hipFuncGetAttributes(FunctionAttributes *attributes, const void *) {
  *attributes = {};
  attributes->maxDynamicGroupBytes = kFakeMaxGroupBytes;
  return kHipSuccess;
}
int hipGraphCreate(FakeGraph **graph, unsigned) {
  *graph = new FakeGraph;
  return kHipSuccess;
}
int hipGraphDestroy(FakeGraph *graph) {
  delete graph;
  return kHipSuccess;
}
int hipGraphAddKernelNode(FakeNode **out, FakeGraph *graph, FakeNode *const *before, size_t count,
                          const KernelNodeParams *params) {
  if (failure) {
    fakeHipSetLastError(failure);
    return failure;
  }
  const auto &kernel = *static_cast<const FakeKernel *>(params->function);
  auto arguments = fakeHipCopyArguments(kernel, params->arguments);
  return add(out, graph, before, count, [&kernel, arguments] {
    kernel.run(arguments.data());
    return int(kHipSuccess);
  });
}
int hipGraphAddMemcpyNode1D(FakeNode **out, FakeGraph *graph, FakeNode *const *before, size_t count, void *to,
                            const void *from, size_t bytes, int kind) {
  return add(out, graph, before, count, [=] { return hipMemcpyAsync(to, from, bytes, kind, nullptr); });
}
int hipGraphAddMemcpyNode(FakeNode **out, FakeGraph *graph, FakeNode *const *before, size_t count,
                          const Copy3DParams *params) {
  return add(out, graph, before, count, [p = *params] {
    const auto row = [](const PitchedPtr &at, const Position &position, uint64_t y, uint64_t z) {
      return static_cast<char *>(at.pointer) + (position.z + z) * at.pitch * at.ySize + (position.y + y) * at.pitch +
             position.x;
    };
    for (uint64_t z = 0; z < p.extent.depth; ++z)
      for (uint64_t y = 0; y < p.extent.height; ++y)
        std::memcpy(row(p.to, p.toPosition, y, z), row(p.from, p.fromPosition, y, z), p.extent.width);
    return int(kHipSuccess);
  });
}
int hipGraphAddMemsetNode(FakeNode **out, FakeGraph *graph, FakeNode *const *before, size_t count,
                          const FillParams *params) {
  return add(out, graph, before, count, [p = *params] { return fill(p); });
}
int hipGraphAddHostNode(FakeNode **out, FakeGraph *graph, FakeNode *const *before, size_t count,
                        const HostParams *params) {
  return add(out, graph, before, count, [p = *params] {
    p.function(p.data);
    return int(kHipSuccess);
  });
}
int hipGraphAddEventRecordNode(FakeNode **out, FakeGraph *graph, FakeNode *const *before, size_t count, Event event) {
  return add(out, graph, before, count, [=] {
    ++eventsRecorded;
    return hipEventRecord(event, nullptr);
  });
}
int hipGraphAddEventWaitNode(FakeNode **out, FakeGraph *graph, FakeNode *const *before, size_t count, Event event) {
  return add(out, graph, before, count, [=] {
    ++eventWaits;
    return hipStreamWaitEvent(nullptr, event, 0);
  });
}
int hipGraphInstantiate(FakeExec **exec, FakeGraph *graph, FakeNode **, char *, size_t) {
  if (failure)
    return failure;
  *exec = new FakeExec(*graph);
  return kHipSuccess;
}
int hipGraphExecKernelNodeSetParams(FakeExec *exec, FakeNode *node, const KernelNodeParams *params) {
  const auto &kernel = *static_cast<const FakeKernel *>(params->function);
  return change(*exec, node, [&kernel, arguments = fakeHipCopyArguments(kernel, params->arguments)] {
    kernel.run(arguments.data());
    return int(kHipSuccess);
  });
}
int hipGraphExecMemcpyNodeSetParams1D(FakeExec *exec, FakeNode *node, void *to, const void *from, size_t bytes,
                                      int kind) {
  return change(*exec, node, [=] { return hipMemcpyAsync(to, from, bytes, kind, nullptr); });
}
int hipGraphExecMemsetNodeSetParams(FakeExec *exec, FakeNode *node, const FillParams *params) {
  return change(*exec, node, [p = *params] { return fill(p); });
}
int hipGraphExecDestroy(FakeExec *exec) {
  delete exec;
  return kHipSuccess;
}
int hipGraphLaunch(void *handle, Stream) {
  auto &exec = *static_cast<FakeExec *>(handle);
  ++launches;
  std::set<const FakeNode *> done;
  while (done.size() < exec.nodes.size()) {
    FakeNode *next = nullptr;
    for (const auto &node : exec.nodes) {
      bool ready = !done.contains(node.get());
      for (const FakeNode *b : node->before)
        ready = ready && done.contains(b);
      if (ready)
        next = node.get();
    }
    if (!next)
      return kFakeErrorInvalidHandle;
    auto changed = exec.changed.find(next);
    if (const int result = changed == exec.changed.end() ? next->run() : changed->second())
      return result;
    done.insert(next);
  }
  return kHipSuccess;
}

FakeGraphCounts fakeHipGraphCounts() { return {graphs, execs, nodes, launches, eventsRecorded, eventWaits}; }
void fakeHipFailGraphs(int error) { failure = error; }
}
