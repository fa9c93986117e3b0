// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "capture.h"

#include "call_hook.h"

#include "wavesan/abi/dispatch.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

namespace wavesan::graph {

using hip::Action;
using hip::CallArguments;
using hip::CallId;
using hip::CallInfo;
using hip::Category;
using hip::kHipSuccess;

namespace {

/// Flag of hipEventRecordWithFlags and hipStreamWaitEvent.
constexpr uint64_t kExternal = 1;
/// hipStreamCaptureStatus.
enum CaptureStatus : int { kStatusActive = 1, kStatusInvalidated = 2 };

int currentThread() {
  static thread_local const int id = int(syscall(SYS_gettid));
  return id;
}

/// Joins sorted lists.
void addNodes(std::vector<NodeId> &to, const std::vector<NodeId> &more) {
  std::vector<NodeId> all;
  std::set_union(to.begin(), to.end(), more.begin(), more.end(), std::back_inserter(all));
  to = std::move(all);
}

/// For people.
const char *nameOf(int code) {
  switch (code) {
  case kHipErrorOutOfMemory:
    return "hipErrorOutOfMemory, more LDS than the device has";
  case kHipErrorCaptureUnsupported:
    return "hipErrorStreamCaptureUnsupported";
  case kHipErrorCaptureInvalidated:
    return "hipErrorStreamCaptureInvalidated";
  case kHipErrorCaptureMerge:
    return "hipErrorStreamCaptureMerge";
  case kHipErrorCaptureIsolation:
    return "hipErrorStreamCaptureIsolation";
  case kHipErrorCaptureImplicit:
    return "hipErrorStreamCaptureImplicit, the legacy default stream beside a blocking stream that is recorded";
  default:
    return "error of HIP";
  }
}

/// Under `wavesan run`: a command that the program believes to be in its stream, and is not. Launches by <<<>>> return
/// nothing.
void sayRefused(CallId id, int code) {
  constexpr int kMaxSaid = 10;
  static std::atomic<int> said{0};
  if (!hip::isCommand(hip::infoOf(id).action) || code == kHipSuccess || !wavesan_hip_say(nullptr) ||
      said.fetch_add(1) >= kMaxSaid)
    return;
  const std::string line = std::string("a graph is being recorded: ") + hip::infoOf(id).name + " is refused with " +
                           std::to_string(code) + " (" + nameOf(code) + ") and has no effect";
  wavesan_hip_say(line.c_str());
}

bool taken(CallId id, const CallArguments &arguments, int &result) {
  try {
    const bool mine = Captures::instance().take(id, arguments, result);
    if (mine)
      sayRefused(id, result);
    return mine;
  } catch (const std::bad_alloc &) {
    result = kHipErrorOutOfMemory;
    return true;
  }
}

const hip::CallHook kHook = {abi::kAbiVersion, taken};

} // namespace

thread_local int OwnCalls::Depth = 0;

Captures &Captures::instance() {
  static auto *const captures = new Captures;
  return *captures;
}

Captures::StreamKey Captures::keyOf(Stream stream, bool zeroIsPerThread) {
  const auto handle = reinterpret_cast<uintptr_t>(stream);
  if (handle == hip::kPerThreadStreamHandle || (handle == 0 && zeroIsPerThread))
    return {hip::kPerThreadStreamHandle, currentThread()};
  return {handle == hip::kLegacyStreamHandle ? 0 : handle, 0};
}

void Captures::noteActive() { wavesan_hip_hook(All.empty() && External.empty() ? nullptr : &kHook); }

Captures::CapturedStream *Captures::find(const StreamKey &key) {
  auto found = Streams.find(key);
  return found == Streams.end() ? nullptr : &found->second;
}

void Captures::add(const StreamKey &key, const CapturePtr &capture, std::vector<NodeId> tails) {
  uint32_t flags = 0;
  const bool known = hipFunctions().hipStreamGetFlags && key.handle != hip::kPerThreadStreamHandle &&
                     hipFunctions().hipStreamGetFlags(reinterpret_cast<Stream>(key.handle), &flags) == kHipSuccess;
  capture->blocking = capture->blocking || !known || !(flags & hip::kStreamNonBlocking);
  Streams[key] = {capture, std::move(tails), capture->streams++};
}

int Captures::begin(Stream stream, std::shared_ptr<Graph> graph, wavesan_graph_capture_mode_t mode, bool into) {
  OwnCalls own;
  std::lock_guard lock(Mutex);
  const StreamKey key = keyOf(stream, false);
  if (graph->recording || !graph->nodes.empty())
    return kHipErrorInvalidValue;
  if (isLegacy(key))
    return kHipErrorCaptureUnsupported;
  int status = 0;
  if (find(key) || (hipFunctions().hipStreamIsCapturing &&
                    hipFunctions().hipStreamIsCapturing(stream, &status) == kHipSuccess && status != 0))
    return kHipErrorIllegalState;
  auto capture = std::make_shared<Capture>();
  graph->recording = true;
  graph->primary = stream;
  capture->graph = std::move(graph);
  capture->origin = key;
  capture->thread = currentThread();
  capture->mode = mode;
  capture->into = into;
  All.push_back(capture);
  add(key, capture, {});
  noteActive();
  return kHipSuccess;
}

int Captures::end(Stream stream, bool wanted, std::shared_ptr<Graph> &graph, bool &into) {
  OwnCalls own;
  std::lock_guard lock(Mutex);
  const StreamKey key = keyOf(stream, false);
  CapturedStream *found = find(key);
  if (!found || found->capture->origin != key)
    return kHipErrorCaptureUnmatched;
  const CapturePtr capture = found->capture;
  if (capture->mode != WAVESAN_GRAPH_CAPTURE_RELAXED && capture->thread != currentThread())
    return kHipErrorCaptureWrongThread;
  if (!wanted && !capture->into)
    return kHipErrorInvalidValue;
  // Every node must come before what the first stream holds last.
  Graph &g = *capture->graph;
  std::vector<bool> joined(g.nodes.size() + 1);
  for (NodeId n : found->tails)
    joined[n] = true;
  bool all = true;
  for (size_t n = g.nodes.size(); n > 0; --n) {
    all = all && joined[n];
    if (joined[n])
      for (NodeId d : g.nodes[n - 1]->dependencies)
        joined[d] = true;
  }
  g.recording = false;
  std::erase_if(Streams, [&](const auto &s) { return s.second.capture == capture; });
  std::erase_if(Events, [&](const auto &e) { return e.second.capture == capture; });
  std::erase(All, capture);
  noteActive();
  graph = capture->graph;
  into = capture->into;
  if (!capture->invalid && all)
    return kHipSuccess;
  if (into) { // empty again
    HipGraph fresh = nullptr;
    if (const int code = hipFunctions().hipGraphCreate(&fresh, 0))
      return code;
    hipFunctions().hipGraphDestroy(std::exchange(g.hip, fresh));
    g.nodes.clear();
    g.primary = nullptr;
  }
  return capture->invalid ? kHipErrorCaptureInvalidated : kHipErrorCaptureUnjoined;
}

int Captures::setPaused(Stream stream, bool paused) {
  std::lock_guard lock(Mutex);
  CapturedStream *found = find(keyOf(stream, false));
  if (!found)
    return kHipErrorCaptureUnmatched;
  if (found->capture->invalid)
    return kHipErrorCaptureInvalidated;
  if (found->capture->paused == paused)
    return kHipErrorIllegalState;
  found->capture->paused = paused;
  return kHipSuccess;
}

bool Captures::isCapturing(Stream stream, bool &invalid) {
  std::lock_guard lock(Mutex);
  CapturedStream *found = find(keyOf(stream, false));
  invalid = found && found->capture->invalid;
  return found != nullptr;
}

bool Captures::isRecorded(Stream stream) {
  std::lock_guard lock(Mutex);
  CapturedStream *found = find(keyOf(stream, false));
  return found && !found->capture->paused;
}

std::shared_ptr<Graph> Captures::graphOf(Stream stream) {
  std::lock_guard lock(Mutex);
  CapturedStream *found = find(keyOf(stream, false));
  return found ? found->capture->graph : nullptr;
}

std::vector<std::shared_ptr<const Node>> Captures::nodesOf(const Graph &graph) {
  std::lock_guard lock(Mutex);
  return graph.nodes;
}

void Captures::addExternal(Event event) {
  std::lock_guard lock(Mutex);
  External.insert(event);
  noteActive();
}

void Captures::removeExternal(Event event) {
  std::lock_guard lock(Mutex);
  External.erase(event);
  Events.erase(event);
  noteActive();
}

/// A call that belongs into the graph cannot be recorded.
int Captures::refuse(CapturedStream &stream, int result) {
  stream.capture->invalid = true;
  return result;
}

int Captures::addNode(CapturedStream &stream, Node node, const AddNode &add) {
  Graph &graph = *stream.capture->graph;
  std::vector<HipNode> before;
  for (NodeId d : stream.tails)
    before.push_back(graph.nodes[d - 1]->hip);
  const int result = add(&node.hip, graph.hip, before.data(), uint64_t(before.size()));
  if (result != kHipSuccess)
    return refuse(stream, result);
  node.id = graph.nodes.size() + 1;
  node.kind = kindText(node.type);
  node.stream = stream.index;
  node.dependencies = stream.tails;
  stream.tails = {node.id};
  graph.nodes.push_back(std::make_shared<const Node>(std::move(node)));
  return kHipSuccess;
}

int Captures::waitIn(CapturedStream &stream, Event event, bool external) {
  if (stream.capture->invalid)
    return kHipErrorCaptureInvalidated;
  if (external || External.contains(event)) {
    if (!hipFunctions().hipGraphAddEventWaitNode)
      return refuse(stream, kHipErrorCaptureUnsupported);
    Node node;
    node.type = WAVESAN_GRAPH_NODE_EVENT_WAIT;
    node.name = node.function = "hipStreamWaitEvent";
    return addNode(stream, std::move(node),
                   [&](auto... to) { return hipFunctions().hipGraphAddEventWaitNode(to..., event); });
  }
  auto found = Events.find(event);
  if (found == Events.end())
    return refuse(stream, kHipErrorCaptureIsolation);
  if (found->second.capture != stream.capture)
    return refuse(stream, kHipErrorCaptureMerge);
  addNodes(stream.tails, found->second.nodes);
  // What another one depends on anyway needs no edge of its own.
  const auto &nodes = stream.capture->graph->nodes;
  const std::vector<NodeId> all = stream.tails;
  std::erase_if(stream.tails, [&](NodeId tail) {
    return std::any_of(all.begin(), all.end(),
                       [&](NodeId other) { return std::ranges::count(nodes[other - 1]->dependencies, tail) != 0; });
  });
  return kHipSuccess;
}

int Captures::recordIn(CapturedStream &stream, Event event, bool external) {
  if (stream.capture->invalid)
    return kHipErrorCaptureInvalidated;
  if (external || External.contains(event)) {
    if (!hipFunctions().hipGraphAddEventRecordNode)
      return refuse(stream, kHipErrorCaptureUnsupported);
    Node node;
    node.type = WAVESAN_GRAPH_NODE_EVENT_SIGNAL;
    node.name = node.function = "hipEventRecord";
    const int result = addNode(stream, std::move(node),
                               [&](auto... to) { return hipFunctions().hipGraphAddEventRecordNode(to..., event); });
    if (result == kHipSuccess)
      Events.erase(event); // from here on it stands for what is outside
    return result;
  }
  if (!event)
    return refuse(stream, kHipErrorInvalidValue);
  Events[event] = {stream.capture, stream.tails};
  return kHipSuccess;
}

/// A stream that is not recorded waits: for an event of a capture, it becomes part of it.
bool Captures::join(const StreamKey &key, Event event, bool external, int &result) {
  auto found = Events.find(event);
  if (external || found == Events.end() || found->second.capture->paused)
    return false;
  const CapturePtr capture = found->second.capture;
  if (capture->invalid) {
    result = kHipErrorCaptureInvalidated;
  } else if (isLegacy(key)) {
    result = kHipErrorCaptureImplicit;
  } else {
    add(key, capture, found->second.nodes);
    result = kHipSuccess;
  }
  return true;
}

bool Captures::wait(Stream stream, Event event, bool external, int &result) {
  OwnCalls own;
  std::lock_guard lock(Mutex);
  const StreamKey key = keyOf(stream, false);
  CapturedStream *found = find(key);
  if (!found)
    return join(key, event, external, result);
  if (found->capture->paused)
    return false;
  result = waitIn(*found, event, external);
  return true;
}

bool Captures::record(Stream stream, Event event, bool external, int &result) {
  OwnCalls own;
  std::lock_guard lock(Mutex);
  CapturedStream *found = find(keyOf(stream, false));
  if (!found || found->capture->paused) {
    Events.erase(event);
    return false;
  }
  result = recordIn(*found, event, external);
  return true;
}

/// Calls that may wait for the whole device or work in the legacy default stream.
bool Captures::isUnsafe(CallId id) const {
  const CallInfo &info = hip::infoOf(id);
  switch (info.category) {
  case Category::Allocate:
  case Category::Free:
    return info.action == Action::None;
  case Category::Copy:
  case Category::Set:
    return std::string_view(info.name).find("Async") == std::string_view::npos;
  default:
    return info.action == Action::DeviceSynchronize || info.action == Action::DeviceReset;
  }
}

bool Captures::unsafeRefused() const {
  int mode = WAVESAN_GRAPH_CAPTURE_RELAXED; // the thread's own: read by setting another one for a moment
  if (hipFunctions().hipThreadExchangeStreamCaptureMode) {
    if (hipFunctions().hipThreadExchangeStreamCaptureMode(&mode) == kHipSuccess) {
      int back = mode;
      hipFunctions().hipThreadExchangeStreamCaptureMode(&back);
    } else {
      mode = WAVESAN_GRAPH_CAPTURE_GLOBAL;
    }
  } else {
    mode = WAVESAN_GRAPH_CAPTURE_GLOBAL;
  }
  if (mode == WAVESAN_GRAPH_CAPTURE_RELAXED)
    return false;
  return std::any_of(All.begin(), All.end(), [&](const CapturePtr &c) {
    if (c->paused || c->mode == WAVESAN_GRAPH_CAPTURE_RELAXED)
      return false;
    return c->thread == currentThread() ||
           (c->mode == WAVESAN_GRAPH_CAPTURE_GLOBAL && mode == WAVESAN_GRAPH_CAPTURE_GLOBAL);
  });
}

/// A call about no stream that is recorded.
bool Captures::takeOutside(const StreamKey &key, bool hasStream, CallId id, const CallArguments &arguments,
                           int &result) {
  const CallInfo &info = hip::infoOf(id);
  const Event event = arguments.events[0];
  switch (info.action) {
  case Action::StreamWaitEvent:
    if (join(key, event, arguments.numbers[0] & kExternal || External.contains(event), result))
      return true;
    break;
  case Action::EventRecord:
    Events.erase(event);
    break;
  case Action::EventSynchronize:
  case Action::EventQuery:
    if (auto found = Events.find(event); found != Events.end() && !found->second.capture->paused) {
      result = kHipErrorCapturedEvent;
      return true;
    }
    break;
  case Action::LaunchWithEvents:
    for (Event e : arguments.events)
      Events.erase(e);
    break;
  default:
    break;
  }
  if (isUnsafe(id) && unsafeRefused()) {
    result = kHipErrorCaptureUnsupported;
    return true;
  }
  const bool legacy = (hasStream && isLegacy(key)) || (!hasStream && isCommand(info.action) && !info.perThread());
  if (legacy && (isCommand(info.action) || info.action == Action::StreamSynchronize) &&
      std::any_of(All.begin(), All.end(), [](const CapturePtr &c) {
        return c->blocking && !c->paused && c->mode != WAVESAN_GRAPH_CAPTURE_RELAXED;
      })) {
    result = kHipErrorCaptureImplicit;
    return true;
  }
  return false;
}

bool Captures::take(CallId id, const CallArguments &arguments, int &result) {
  if (OwnCalls::active())
    return false;
  OwnCalls own;
  std::lock_guard lock(Mutex);
  const CallInfo &info = hip::infoOf(id);
  if (info.action == Action::EventDestroy) {
    External.erase(arguments.events[0]);
    Events.erase(arguments.events[0]);
    noteActive();
    return false;
  }
  if (All.empty())
    return false;
  const StreamKey key = keyOf(arguments.stream, info.perThread());
  CapturedStream *stream = arguments.hasStream ? find(key) : nullptr;
  if (!stream || stream->capture->paused)
    return takeOutside(key, arguments.hasStream, id, arguments, result);
  const bool invalid = stream->capture->invalid;
  if (id == CallId::hipStreamIsCapturing || id == CallId::hipStreamIsCapturing_spt ||
      id == CallId::hipStreamGetCaptureInfo || id == CallId::hipStreamGetCaptureInfo_spt) {
    auto *status = static_cast<int *>(const_cast<void *>(arguments.pointers[0]));
    auto *number = static_cast<unsigned long long *>(const_cast<void *>(arguments.pointers[1]));
    if (status)
      *status = invalid ? kStatusInvalidated : kStatusActive;
    if (number)
      *number = stream->capture->graph->id;
    result = status ? int(kHipSuccess) : int(kHipErrorInvalidValue);
    return true;
  }
  const bool external = arguments.numbers[0] & kExternal;
  switch (info.action) {
  case Action::BeginCapture:
    result = kHipErrorIllegalState;
    return true;
  case Action::EndCapture:
    result = kHipErrorCaptureUnmatched;
    return true;
  case Action::StreamDestroy:
    result = kHipErrorCaptureUnsupported;
    return true;
  case Action::StreamWaitEvent:
    result = waitIn(*stream, arguments.events[0], external);
    return true;
  case Action::EventRecord:
    result = recordIn(*stream, arguments.events[0], id == CallId::hipEventRecordWithFlags && external);
    return true;
  case Action::StreamSynchronize:
  case Action::StreamQuery:
    break;
  default:
    if (info.category == Category::Capture) {
      result = hip::kHipErrorNotSupported;
      return true;
    }
    if (!isCommand(info.action))
      return false;
  }
  if (invalid)
    result = kHipErrorCaptureInvalidated;
  else if (isCommand(info.action))
    result = addCall(*stream, id, arguments);
  else
    result = refuse(*stream, kHipErrorCaptureUnsupported);
  return true;
}

} // namespace wavesan::graph
