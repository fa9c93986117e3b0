// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls of graph.h: handles, arguments and results.
#pragma GCC visibility push(default)
#include "wavesan/graph.h"
#pragma GCC visibility pop

#include "call_hook.h"
#include "capture.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <optional>

using namespace wavesan;
using namespace wavesan::graph;
using wavesan::hip::kHipErrorNotReady;
using wavesan::hip::kHipErrorNotSupported;
using wavesan::hip::kHipSuccess;

namespace {

struct Executable {
  Executable() = default;
  Executable(const Executable &) = delete;
  ~Executable() {
    OwnCalls own;
    if (hip)
      hipFunctions().hipGraphExecDestroy(hip);
    if (done)
      hipFunctions().hipEventDestroy(done);
  }
  HipExec hip = nullptr;
  wavesan_graph_t source = nullptr;
  std::shared_ptr<const Graph> changeable; ///< what it was made of, whose nodes name its own; null: it is immutable
  uint64_t sourceId = 0;
  std::mutex mutex;     ///< of what follows: one append after the other
  Event done = nullptr; ///< stands for the runs so far, unless `unmarked`
  Stream last = nullptr;
  /// The last run is in `last` and `done` has not been recorded behind it: that costs more than a small run, and is put
  /// off until somebody asks.
  bool unmarked = false;
  bool started = false, destroyed = false;

  int mark() {
    if (!unmarked)
      return kHipSuccess;
    int status = 0; // a record would become part of a capture of HIP's own
    if (hipFunctions().hipStreamIsCapturing && hipFunctions().hipStreamIsCapturing(last, &status) == kHipSuccess &&
        status)
      return kHipErrorCaptureUnsupported;
    const int code = hipFunctions().hipEventRecord(done, last);
    unmarked = code != kHipSuccess;
    return code;
  }
};

/// The handles that are valid. Handles are addresses of Graph and Executable; an id tells a graph from an older one at
/// the same address.
struct Handles {
  std::mutex mutex;
  std::unordered_map<wavesan_graph_t, std::shared_ptr<Graph>> graphs;
  std::unordered_map<wavesan_executable_graph_t, std::shared_ptr<Executable>> executables;

  std::shared_ptr<Graph> find(wavesan_graph_t handle) {
    std::lock_guard lock(mutex);
    auto found = graphs.find(handle);
    return found == graphs.end() ? nullptr : found->second;
  }
  std::shared_ptr<Executable> find(wavesan_executable_graph_t handle) {
    std::lock_guard lock(mutex);
    auto found = executables.find(handle);
    return found == executables.end() ? nullptr : found->second;
  }
  wavesan_graph_t add(const std::shared_ptr<Graph> &graph) {
    std::lock_guard lock(mutex);
    const auto handle = reinterpret_cast<wavesan_graph_t>(graph.get());
    graphs[handle] = graph;
    return handle;
  }
  void forget(wavesan_graph_t handle) {
    std::lock_guard lock(mutex);
    graphs.erase(handle);
  }
};

/// Never destroyed: programs end with graphs.
Handles &handles() {
  static auto *const instance = new Handles;
  return *instance;
}

std::atomic<uint64_t> lastGraphId{0};
thread_local int lastHipError = kHipSuccess;

wavesan_graph_result_t done(wavesan_graph_result_t result, int hipError = kHipSuccess) {
  lastHipError = hipError;
  return result;
}
wavesan_graph_result_t query(bool yes, int hipError = kHipSuccess) {
  return done(yes ? WAVESAN_GRAPH_QUERY_TRUE : WAVESAN_GRAPH_QUERY_FALSE, hipError);
}
wavesan_graph_result_t nullHandle() { return done(WAVESAN_GRAPH_ERROR_INVALID_NULL_HANDLE); }
wavesan_graph_result_t nullPointer() { return done(WAVESAN_GRAPH_ERROR_INVALID_NULL_POINTER); }
wavesan_graph_result_t invalidGraph(int hipError = kHipErrorInvalidValue) {
  return done(WAVESAN_GRAPH_ERROR_INVALID_GRAPH, hipError);
}
wavesan_graph_result_t invalidArgument() { return done(WAVESAN_GRAPH_ERROR_INVALID_ARGUMENT); }
wavesan_graph_result_t unsupported(int hipError = kHipErrorNotSupported) {
  return done(WAVESAN_GRAPH_ERROR_UNSUPPORTED_FEATURE, hipError);
}
wavesan_graph_result_t hipResult(int hipError) {
  return done(hipError == kHipSuccess ? WAVESAN_GRAPH_SUCCESS : WAVESAN_GRAPH_ERROR_HIP, hipError);
}

/// The body of a call: nothing is thrown through C.
template <class Body> wavesan_graph_result_t guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return done(WAVESAN_GRAPH_ERROR_OUT_OF_MEMORY, kHipErrorOutOfMemory);
  }
}

/// With a valid graph.
template <class Body> wavesan_graph_result_t withGraph(wavesan_graph_t handle, Body body) {
  return guarded([&] {
    if (!handle)
      return nullHandle();
    const std::shared_ptr<Graph> graph = handles().find(handle);
    return graph ? body(graph) : invalidGraph();
  });
}

template <class Body> wavesan_graph_result_t withExecutable(wavesan_executable_graph_t handle, Body body) {
  return guarded([&] {
    if (!handle)
      return nullHandle();
    const std::shared_ptr<Executable> executable = handles().find(handle);
    return executable ? body(*executable) : invalidGraph();
  });
}

int newHipGraph(Graph &graph) {
  OwnCalls own;
  return hipFunctions().hipGraphCreate(&graph.hip, 0);
}

Stream streamOf(wavesan_graph_stream_t stream) { return static_cast<Stream>(stream); }
Event eventOf(wavesan_graph_event_t event) { return static_cast<Event>(event); }

/// C programs may pass any number for an enumeration. To read such a value as one is undefined in C++.
template <class Enumeration> uint32_t numberOf(const Enumeration &value) {
  static_assert(sizeof(value) == sizeof(uint32_t));
  uint32_t number;
  std::memcpy(&number, &value, sizeof(number));
  return number;
}

bool isMode(uint32_t mode) {
  return mode == WAVESAN_GRAPH_CAPTURE_GLOBAL || mode == WAVESAN_GRAPH_CAPTURE_THREAD_LOCAL ||
         mode == WAVESAN_GRAPH_CAPTURE_RELAXED;
}

/// Called before a stream is destroyed: runs in it can be marked no longer afterwards.
void streamEnds(Stream stream) {
  OwnCalls own;
  std::vector<std::shared_ptr<Executable>> all;
  {
    std::lock_guard lock(handles().mutex);
    for (const auto &[_, x] : handles().executables)
      all.push_back(x);
  }
  for (const auto &x : all) {
    std::lock_guard lock(x->mutex);
    if (x->unmarked && x->last == stream)
      x->mark();
  }
}

/// Whether a stream's handle means the same to all threads, and its end is seen.
bool canMarkLater(Stream stream) {
  return hipFunctions().interposed && reinterpret_cast<uintptr_t>(stream) != hip::kPerThreadStreamHandle;
}

bool canRecord() { return hipFunctions().graphs() && hipFunctions().interposed; }

/// Under `wavesan run`: nodes that conflict without an edge, before the graph runs for the first time.
void sayConflicts(const Graph &graph) {
  constexpr size_t kMaxSaid = 10;
  if (!hipFunctions().interposed || !wavesan_hip_say(nullptr))
    return;
  const std::vector<streams::GraphNode> nodes = dumped(Captures::instance().nodesOf(graph));
  const std::vector<streams::NodeConflict> found = streams::findConflicts(nodes).found;
  const auto nameOf = [&](streams::NodeId id) {
    const streams::GraphNode &node = nodes[id - 1];
    return "node " + std::to_string(id) + " (" + node.kind + " " + node.name + ")";
  };
  const std::string start = "graph " + std::to_string(graph.id) + " is instantiated with ";
  for (size_t i = 0; i < std::min(found.size(), kMaxSaid); ++i) {
    const streams::NodeConflict &c = found[i];
    const std::string line = start + "a missing edge, " + std::to_string(c.first) + " -> " + std::to_string(c.second) +
                             ": " + nameOf(c.first) + " and " + nameOf(c.second) + " both touch " +
                             std::to_string(c.bytes) + " bytes" + (c.seenInRun ? ", as in an earlier run" : "") +
                             ", and no path of edges orders them";
    wavesan_hip_say(line.c_str());
  }
  if (found.size() > kMaxSaid)
    wavesan_hip_say((start + std::to_string(found.size() - kMaxSaid) + " more: wavesan_graph_dump has them").c_str());
}

/// Result of Captures::begin.
wavesan_graph_result_t begun(int code) {
  return code == kHipErrorCaptureUnsupported ? unsupported(code) : hipResult(code);
}

} // namespace

int wavesan_graph_hip_error(void) { return lastHipError; }

wavesan_graph_result_t wavesan_graph_get_properties(wavesan_graph_properties_t *properties) {
  if (!properties)
    return nullPointer();
  if (properties->size < sizeof *properties)
    return invalidArgument();
  const HipFunctions &h = hipFunctions();
  properties->version = WAVESAN_GRAPH_API_VERSION;
  properties->flags = !h.graphs() ? 0
                      : !h.hipGraphExecKernelNodeSetParams
                          ? WAVESAN_GRAPH_FLAG_IMMUTABLE_GRAPH
                          : WAVESAN_GRAPH_FLAG_IMMUTABLE_GRAPH | WAVESAN_GRAPH_FLAG_MUTABLE_GRAPH;
  properties->recording = canRecord();
  properties->external_events = h.graphs() && h.hipGraphAddEventRecordNode && h.hipGraphAddEventWaitNode;
  return done(WAVESAN_GRAPH_SUCCESS);
}

wavesan_graph_result_t wavesan_graph_create(wavesan_graph_t *graph) {
  return guarded([&] {
    if (!graph)
      return nullPointer();
    if (!hipFunctions().graphs())
      return unsupported();
    auto made = std::make_shared<Graph>(++lastGraphId);
    if (const int code = newHipGraph(*made))
      return hipResult(code);
    *graph = handles().add(made);
    return done(WAVESAN_GRAPH_SUCCESS);
  });
}

wavesan_graph_result_t wavesan_graph_destroy(wavesan_graph_t handle) {
  void (*callback)(void *) = nullptr;
  void *data = nullptr;
  const wavesan_graph_result_t result = withGraph(handle, [&](const std::shared_ptr<Graph> &graph) {
    const bool taken = Captures::instance().underLock([&] {
      if (graph->recording)
        return false;
      handles().forget(handle);
      callback = graph->callback;
      data = graph->callbackData;
      return true;
    });
    return taken ? done(WAVESAN_GRAPH_SUCCESS) : done(WAVESAN_GRAPH_ERROR_IN_USE, kHipErrorCaptureUnsupported);
  });
  if (callback) {
    callback(data);
    lastHipError = kHipSuccess;
  }
  return result;
}

wavesan_graph_result_t wavesan_graph_set_destruction_callback(wavesan_graph_t handle, void (*callback)(void *),
                                                              void *data) {
  return withGraph(handle, [&](const std::shared_ptr<Graph> &graph) {
    Captures::instance().underLock([&] {
      graph->callback = callback;
      graph->callbackData = data;
      return true;
    });
    return done(WAVESAN_GRAPH_SUCCESS);
  });
}

wavesan_graph_result_t wavesan_graph_begin_capture(wavesan_graph_stream_t stream, wavesan_graph_capture_mode_t mode) {
  return guarded([&] {
    if (!isMode(numberOf(mode)))
      return invalidArgument();
    if (!canRecord())
      return unsupported();
    auto graph = std::make_shared<Graph>(++lastGraphId);
    if (const int code = newHipGraph(*graph))
      return hipResult(code);
    const wavesan_graph_t handle = handles().add(graph);
    const int code = Captures::instance().begin(streamOf(stream), graph, mode, false);
    if (code)
      handles().forget(handle);
    return begun(code);
  });
}

wavesan_graph_result_t wavesan_graph_begin_capture_into(wavesan_graph_stream_t stream, wavesan_graph_t handle,
                                                        wavesan_graph_capture_mode_t mode) {
  return withGraph(handle, [&](const std::shared_ptr<Graph> &graph) {
    if (!isMode(numberOf(mode)))
      return invalidArgument();
    if (!canRecord())
      return unsupported();
    const int code = Captures::instance().begin(streamOf(stream), graph, mode, true);
    return code == kHipErrorInvalidValue ? invalidGraph() : begun(code);
  });
}

wavesan_graph_result_t wavesan_graph_end_capture(wavesan_graph_stream_t stream, wavesan_graph_t *graph) {
  return guarded([&] {
    std::shared_ptr<Graph> recorded;
    bool into = false;
    const int code = Captures::instance().end(streamOf(stream), graph != nullptr, recorded, into);
    if (recorded) {
      const auto handle = reinterpret_cast<wavesan_graph_t>(recorded.get());
      if (code == kHipSuccess) {
        if (graph)
          *graph = handle;
      } else if (!into) {
        handles().forget(handle);
      }
    } else if (code == kHipErrorInvalidValue) {
      return nullPointer();
    }
    return code ? invalidGraph(code) : done(WAVESAN_GRAPH_SUCCESS);
  });
}

wavesan_graph_result_t wavesan_graph_pause_capture(wavesan_graph_stream_t stream) {
  const int code = Captures::instance().setPaused(streamOf(stream), true);
  return code ? invalidGraph(code) : done(WAVESAN_GRAPH_SUCCESS);
}

wavesan_graph_result_t wavesan_graph_resume_capture(wavesan_graph_stream_t stream) {
  const int code = Captures::instance().setPaused(streamOf(stream), false);
  return code ? invalidGraph(code) : done(WAVESAN_GRAPH_SUCCESS);
}

wavesan_graph_result_t wavesan_graph_is_capturing(wavesan_graph_stream_t stream) {
  bool invalid = false;
  const bool capturing = Captures::instance().isCapturing(streamOf(stream), invalid);
  return query(capturing, invalid ? int(kHipErrorCaptureInvalidated) : int(kHipSuccess));
}

wavesan_graph_result_t wavesan_graph_of_stream(wavesan_graph_stream_t stream, wavesan_graph_t *graph) {
  if (!graph)
    return nullPointer();
  const std::shared_ptr<Graph> found = Captures::instance().graphOf(streamOf(stream));
  if (!found)
    return invalidGraph(kHipErrorCaptureUnmatched);
  *graph = reinterpret_cast<wavesan_graph_t>(found.get());
  return done(WAVESAN_GRAPH_SUCCESS);
}

wavesan_graph_result_t wavesan_graph_primary_stream(wavesan_graph_t handle, wavesan_graph_stream_t *stream) {
  return withGraph(handle, [&](const std::shared_ptr<Graph> &graph) {
    if (!stream)
      return nullPointer();
    Captures::instance().underLock([&] {
      *stream = graph->primary;
      return true;
    });
    return done(WAVESAN_GRAPH_SUCCESS);
  });
}

wavesan_graph_result_t wavesan_graph_id(wavesan_graph_t handle, uint64_t *id) {
  return withGraph(handle, [&](const std::shared_ptr<Graph> &graph) {
    if (!id)
      return nullPointer();
    *id = graph->id;
    return done(WAVESAN_GRAPH_SUCCESS);
  });
}

wavesan_graph_result_t wavesan_graph_is_empty(wavesan_graph_t handle) {
  return withGraph(handle, [&](const std::shared_ptr<Graph> &graph) {
    return query(Captures::instance().underLock([&] { return graph->nodes.empty(); }));
  });
}

wavesan_graph_result_t wavesan_graph_instantiate(wavesan_graph_t handle, const wavesan_graph_instantiate_desc_t *desc,
                                                 wavesan_executable_graph_t *executable) {
  return withGraph(handle, [&](const std::shared_ptr<Graph> &graph) {
    if (!executable)
      return nullPointer();
    if (desc && (desc->size < sizeof *desc ||
                 (desc->flags & ~(WAVESAN_GRAPH_FLAG_IMMUTABLE_GRAPH | WAVESAN_GRAPH_FLAG_MUTABLE_GRAPH))))
      return invalidArgument();
    const bool changeable = desc && desc->flags & WAVESAN_GRAPH_FLAG_MUTABLE_GRAPH;
    if (changeable && !hipFunctions().hipGraphExecKernelNodeSetParams)
      return unsupported();
    OwnCalls own;
    auto made = std::make_shared<Executable>();
    made->source = handle;
    made->sourceId = graph->id;
    if (changeable)
      made->changeable = graph;
    int code = kHipSuccess;
    const bool idle = Captures::instance().underLock([&] {
      if (graph->recording)
        return false;
      code = hipFunctions().hipGraphInstantiate(&made->hip, graph->hip, nullptr, nullptr, 0);
      return true;
    });
    if (!idle)
      return invalidGraph(kHipErrorCaptureUnsupported);
    constexpr uint32_t kWithoutTiming = 2;
    if (code == kHipSuccess)
      code = hipFunctions().hipEventCreateWithFlags(&made->done, kWithoutTiming);
    if (code)
      return hipResult(code);
    sayConflicts(*graph);
    *executable = reinterpret_cast<wavesan_executable_graph_t>(made.get());
    std::lock_guard lock(handles().mutex);
    handles().executables[*executable] = made;
    wavesan_hip_stream_hook(streamEnds);
    return done(WAVESAN_GRAPH_SUCCESS);
  });
}

wavesan_graph_result_t wavesan_graph_append(wavesan_graph_stream_t handle, wavesan_executable_graph_t executable,
                                            wavesan_graph_event_t signal, uint32_t waitCount,
                                            const wavesan_graph_event_t *waits) {
  return withExecutable(executable, [&](Executable &x) {
    if (waitCount && !waits)
      return nullPointer();
    const Stream stream = streamOf(handle);
    if (Captures::instance().isRecorded(stream))
      return unsupported(kHipErrorCaptureUnsupported);
    const HipFunctions &h = hipFunctions();
    OwnCalls own;
    std::lock_guard lock(x.mutex);
    if (x.destroyed)
      return invalidGraph();
    int code = kHipSuccess;
    if (x.started &&
        (!x.unmarked || x.last != stream)) { // HIP does not say that runs in different streams exclude one another
      code = x.mark();
      if (code == kHipSuccess)
        code = h.hipStreamWaitEvent(stream, x.done, 0);
    }
    for (uint32_t i = 0; i < waitCount && code == kHipSuccess; ++i)
      code = h.hipStreamWaitEvent(stream, eventOf(waits[i]), 0);
    if (code == kHipSuccess)
      code = h.hipGraphLaunch(x.hip, stream);
    if (code != kHipSuccess)
      return hipResult(code);
    x.started = x.unmarked = true;
    x.last = stream;
    if (!canMarkLater(stream))
      code = x.mark();
    if (code == kHipSuccess && signal)
      code = h.hipEventRecord(eventOf(signal), stream);
    return hipResult(code);
  });
}

namespace {

/// A change of a node of an executable graph. `right`: the node is one for it; `change` returns HIP's code.
template <class Params, class Right, class Change>
wavesan_graph_result_t changeNode(wavesan_executable_graph_t executable, uint64_t node, const Params *params,
                                  bool supported, Right right, Change change) {
  return withExecutable(executable, [&](Executable &x) {
    if (!params)
      return nullPointer();
    if (params->size < sizeof *params)
      return invalidArgument();
    std::lock_guard lock(x.mutex);
    if (x.destroyed)
      return invalidGraph();
    if (!x.changeable || !supported)
      return unsupported();
    if (node == 0 || node > x.changeable->nodes.size())
      return invalidArgument();
    const Node &n = *x.changeable->nodes[node - 1];
    if (const wavesan_graph_result_t result = right(n))
      return done(result, result == WAVESAN_GRAPH_ERROR_UNSUPPORTED_FEATURE ? kHipErrorNotSupported : kHipSuccess);
    OwnCalls own;
    return hipResult(change(x.hip, n));
  });
}

} // namespace

wavesan_graph_result_t wavesan_executable_graph_set_kernel(wavesan_executable_graph_t executable, uint64_t node,
                                                           const wavesan_graph_kernel_params_t *params) {
  const auto change = hipFunctions().hipGraphExecKernelNodeSetParams;
  return changeNode(
      executable, node, params, change != nullptr,
      [&](const Node &n) {
        if (n.type != WAVESAN_GRAPH_NODE_KERNEL)
          return WAVESAN_GRAPH_ERROR_INVALID_ARGUMENT;
        if (n.byExtra) // HIP 5.2.3 crashes
          return WAVESAN_GRAPH_ERROR_UNSUPPORTED_FEATURE;
        if (!params->arguments)
          return WAVESAN_GRAPH_ERROR_INVALID_NULL_POINTER;
        for (int i = 0; i < 3; ++i)
          if (!params->grid_size[i] || !params->workgroup_size[i] || params->grid_size[i] % params->workgroup_size[i])
            return WAVESAN_GRAPH_ERROR_INVALID_ARGUMENT;
        return WAVESAN_GRAPH_SUCCESS;
      },
      [&](HipExec exec, const Node &n) {
        if (params->group_segment_bytes > n.maxGroupBytes)
          return int(kHipErrorOutOfMemory);
        const uint32_t *grid = params->grid_size, *group = params->workgroup_size;
        const KernelNodeParams hip = {{group[0], group[1], group[2]},
                                      nullptr,
                                      n.launched,
                                      {grid[0] / group[0], grid[1] / group[1], grid[2] / group[2]},
                                      params->arguments,
                                      params->group_segment_bytes};
        return change(exec, n.hip, &hip);
      });
}

wavesan_graph_result_t wavesan_executable_graph_set_copy(wavesan_executable_graph_t executable, uint64_t node,
                                                         const wavesan_graph_copy_params_t *params) {
  const auto change = hipFunctions().hipGraphExecMemcpyNodeSetParams1D;
  return changeNode(
      executable, node, params, change != nullptr,
      [&](const Node &n) {
        if (n.type != WAVESAN_GRAPH_NODE_COPY)
          return WAVESAN_GRAPH_ERROR_INVALID_ARGUMENT;
        if (!n.plain)
          return WAVESAN_GRAPH_ERROR_UNSUPPORTED_FEATURE;
        if (!params->destination || !params->source)
          return WAVESAN_GRAPH_ERROR_INVALID_NULL_POINTER;
        constexpr int kLastKind = 4; // hipMemcpyDefault
        return params->kind >= 0 && params->kind <= kLastKind ? WAVESAN_GRAPH_SUCCESS
                                                              : WAVESAN_GRAPH_ERROR_INVALID_ARGUMENT;
      },
      [&](HipExec exec, const Node &n) {
        return change(exec, n.hip, params->destination, params->source, params->bytes, params->kind);
      });
}

wavesan_graph_result_t wavesan_executable_graph_set_fill(wavesan_executable_graph_t executable, uint64_t node,
                                                         const wavesan_graph_fill_params_t *params) {
  const auto change = hipFunctions().hipGraphExecMemsetNodeSetParams;
  return changeNode(
      executable, node, params, change != nullptr,
      [&](const Node &n) {
        if (n.type != WAVESAN_GRAPH_NODE_FILL)
          return WAVESAN_GRAPH_ERROR_INVALID_ARGUMENT;
        if (!params->destination)
          return WAVESAN_GRAPH_ERROR_INVALID_NULL_POINTER;
        const uint32_t element = params->element_bytes;
        if (!n.plain)
          return WAVESAN_GRAPH_ERROR_UNSUPPORTED_FEATURE;
        const bool right =
            (element == 1 || element == 2 || element == 4) && params->count && params->count <= UINT64_MAX / element;
        return right ? WAVESAN_GRAPH_SUCCESS : WAVESAN_GRAPH_ERROR_INVALID_ARGUMENT;
      },
      [&](HipExec exec, const Node &n) {
        const FillParams hip = {params->destination, params->element_bytes, 1, 0, params->value, params->count};
        return change(exec, n.hip, &hip);
      });
}

wavesan_graph_result_t wavesan_executable_graph_destroy(wavesan_executable_graph_t handle) {
  return withExecutable(handle, [&](Executable &x) {
    OwnCalls own;
    std::lock_guard lock(x.mutex);
    if (x.destroyed)
      return invalidGraph();
    // A stream that is idle has ended the run.
    if (x.started && !(x.unmarked && hipFunctions().hipStreamQuery(x.last) == kHipSuccess)) {
      int code = x.mark();
      if (code == kHipSuccess)
        code = hipFunctions().hipEventQuery(x.done);
      if (code != kHipSuccess)
        return done(WAVESAN_GRAPH_ERROR_IN_USE, code);
    }
    x.destroyed = true;
    std::lock_guard handlesLock(handles().mutex);
    handles().executables.erase(handle);
    return done(WAVESAN_GRAPH_SUCCESS);
  });
}

wavesan_graph_result_t wavesan_executable_graph_source(wavesan_executable_graph_t executable, wavesan_graph_t *graph) {
  return withExecutable(executable, [&](Executable &x) {
    if (!graph)
      return nullPointer();
    const std::shared_ptr<Graph> source = handles().find(x.source);
    if (!source || source->id != x.sourceId)
      return invalidGraph();
    *graph = x.source;
    return done(WAVESAN_GRAPH_SUCCESS);
  });
}

namespace {

/// What is wrong with the arguments of a call that makes or uses an event; nothing: they will do.
std::optional<wavesan_graph_result_t> wrongEvent(const void *event, uint32_t flags) {
  if (!event)
    return nullPointer();
  if (flags & ~WAVESAN_GRAPH_EVENT_EXTERNAL)
    return invalidArgument();
  if (!hipFunctions().graphs())
    return unsupported();
  return std::nullopt;
}

} // namespace

wavesan_graph_result_t wavesan_graph_event_create(uint32_t flags, wavesan_graph_event_t *event) {
  return guarded([&] {
    if (const auto wrong = wrongEvent(event, flags))
      return *wrong;
    constexpr uint32_t kWithoutTiming = 2;
    Event made = nullptr;
    OwnCalls own;
    if (const int code = hipFunctions().hipEventCreateWithFlags(&made, kWithoutTiming))
      return hipResult(code);
    *event = made;
    if (flags & WAVESAN_GRAPH_EVENT_EXTERNAL)
      Captures::instance().addExternal(made);
    return done(WAVESAN_GRAPH_SUCCESS);
  });
}

wavesan_graph_result_t wavesan_graph_event_destroy(wavesan_graph_event_t event) {
  return guarded([&] {
    if (!event)
      return nullPointer();
    if (!hipFunctions().graphs())
      return unsupported();
    Captures::instance().removeExternal(eventOf(event));
    OwnCalls own;
    return hipResult(hipFunctions().hipEventDestroy(eventOf(event)));
  });
}

namespace {

/// `record`: else it is a wait.
wavesan_graph_result_t appendEvent(wavesan_graph_stream_t stream, wavesan_graph_event_t event, uint32_t flags,
                                   bool record) {
  return guarded([&] {
    if (const auto wrong = wrongEvent(event, flags))
      return *wrong;
    const bool external = flags & WAVESAN_GRAPH_EVENT_EXTERNAL;
    int code = kHipSuccess;
    Captures &captures = Captures::instance();
    const bool taken = record ? captures.record(streamOf(stream), eventOf(event), external, code)
                              : captures.wait(streamOf(stream), eventOf(event), external, code);
    if (taken)
      return hipResult(code);
    OwnCalls own;
    return hipResult(record ? hipFunctions().hipEventRecord(eventOf(event), streamOf(stream))
                            : hipFunctions().hipStreamWaitEvent(streamOf(stream), eventOf(event), 0));
  });
}

} // namespace

wavesan_graph_result_t wavesan_graph_append_wait(wavesan_graph_stream_t stream, wavesan_graph_event_t event,
                                                 uint32_t flags) {
  return appendEvent(stream, event, flags, false);
}

wavesan_graph_result_t wavesan_graph_append_signal(wavesan_graph_stream_t stream, wavesan_graph_event_t event,
                                                   uint32_t flags) {
  return appendEvent(stream, event, flags, true);
}

wavesan_graph_result_t wavesan_graph_visit(wavesan_graph_t handle,
                                           int (*visit)(const wavesan_graph_node_info_t *, void *), void *data) {
  const wavesan_graph_result_t result = withGraph(handle, [&](const std::shared_ptr<Graph> &graph) {
    if (!visit)
      return nullPointer();
    for (const auto &node : Captures::instance().nodesOf(*graph)) {
      wavesan_graph_node_info_t info{};
      info.size = sizeof info;
      info.id = node->id;
      info.kind = node->type;
      info.name = node->name.c_str();
      info.function = node->function;
      info.stream = node->stream;
      info.dependencies = node->dependencies.data();
      info.dependency_count = node->dependencies.size();
      std::copy(node->grid, node->grid + 3, info.grid_size);
      std::copy(node->workgroup, node->workgroup + 3, info.workgroup_size);
      info.group_segment_bytes = node->groupBytes;
      info.destination = node->to;
      info.source = node->from;
      info.bytes = node->bytes;
      info.hip_node = node->hip;
      if (visit(&info, data))
        break;
    }
    return done(WAVESAN_GRAPH_SUCCESS);
  });
  return result;
}

wavesan_graph_result_t wavesan_graph_dump(wavesan_graph_t handle, const char *path,
                                          const wavesan_graph_dump_desc_t *desc) {
  return withGraph(handle, [&](const std::shared_ptr<Graph> &graph) {
    if (!path)
      return nullPointer();
    if (desc && (desc->size < sizeof *desc || (numberOf(desc->mode) > WAVESAN_GRAPH_DUMP_SIMPLE) ||
                 (numberOf(desc->format) > WAVESAN_GRAPH_DUMP_JSON)))
      return invalidArgument();
    const std::vector<streams::GraphNode> nodes = dumped(Captures::instance().nodesOf(*graph));
    const std::string text = streams::graphText({graph->id, std::nullopt}, nodes, streams::findConflicts(nodes),
                                                !desc || desc->mode == WAVESAN_GRAPH_DUMP_DETAILED,
                                                desc && desc->format == WAVESAN_GRAPH_DUMP_JSON);
    const bool written = streams::writeGraphFile(path, text);
    return done(written ? WAVESAN_GRAPH_SUCCESS : WAVESAN_GRAPH_ERROR_FILE);
  });
}

wavesan_graph_result_t wavesan_graph_visit_conflicts(wavesan_graph_t handle,
                                                     int (*visit)(const wavesan_graph_conflict_t *, void *),
                                                     void *data) {
  return withGraph(handle, [&](const std::shared_ptr<Graph> &graph) {
    if (!visit)
      return nullPointer();
    const streams::Conflicts conflicts = streams::findConflicts(dumped(Captures::instance().nodesOf(*graph)));
    if (!conflicts.looked)
      return unsupported();
    for (const streams::NodeConflict &c : conflicts.found) {
      wavesan_graph_conflict_t info{};
      info.size = sizeof info;
      info.first = c.first;
      info.second = c.second;
      info.address = reinterpret_cast<const void *>(c.address);
      info.bytes = c.bytes;
      info.seen_in_run = c.seenInRun;
      if (visit(&info, data))
        break;
    }
    return done(WAVESAN_GRAPH_SUCCESS);
  });
}
