// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recording: which streams and events take part in which capture, and what becomes of the calls that the program makes
// meanwhile (graph.h says what). HIP's own stream capture is not used: what it makes of forks, and of calls that it
// should refuse, differs from version to version.
#ifndef WAVESAN_GRAPH_CAPTURE_H
#define WAVESAN_GRAPH_CAPTURE_H

#include "recorded_graph.h"

#include "call_arguments.h"

#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace wavesan::graph {

/// While one lives, calls of HIP by this thread are WaveSan's own: none is recorded.
class OwnCalls {
public:
  OwnCalls() { ++Depth; }
  ~OwnCalls() { --Depth; }
  OwnCalls(const OwnCalls &) = delete;
  static bool active() { return Depth != 0; }

private:
  static thread_local int Depth;
};

/// Thread-safe. Functions return hipError_t.
class Captures {
public:
  /// The process's. Never destroyed: calls of HIP may come until the end.
  static Captures &instance();

  /// `into`: a graph of the program's, which must be empty (else kHipErrorInvalidValue) and is made empty again when
  /// the capture fails.
  int begin(Stream stream, std::shared_ptr<Graph> graph, wavesan_graph_capture_mode_t mode, bool into);
  /// `graph`, when the capture has ended: what was recorded into. `wanted`: somebody takes a graph that was not the
  /// program's; else kHipErrorInvalidValue, and the capture goes on.
  int end(Stream stream, bool wanted, std::shared_ptr<Graph> &graph, bool &into);
  int setPaused(Stream stream, bool paused);
  bool isCapturing(Stream stream, bool &invalid);
  /// Whether calls in the stream are recorded now.
  bool isRecorded(Stream stream);
  /// Null: none.
  std::shared_ptr<Graph> graphOf(Stream stream);
  std::vector<std::shared_ptr<const Node>> nodesOf(const Graph &graph);
  /// Members of graphs are read and written here.
  template <class Body> bool underLock(Body body) {
    std::lock_guard lock(Mutex);
    return body();
  }

  void addExternal(Event event);
  void removeExternal(Event event);
  /// As HIP's function; false: it is HIP's business.
  bool wait(Stream stream, Event event, bool external, int &result);
  bool record(Stream stream, Event event, bool external, int &result);

  /// CallHook::take.
  bool take(hip::CallId id, const hip::CallArguments &arguments, int &result);

private:
  struct StreamKey {
    uintptr_t handle;
    int thread; ///< of a thread's default stream
    auto operator<=>(const StreamKey &) const = default;
  };
  struct Capture {
    std::shared_ptr<Graph> graph;
    StreamKey origin;
    int thread;
    wavesan_graph_capture_mode_t mode;
    bool into;
    bool invalid = false, paused = false;
    bool blocking = false; ///< one of its streams is ordered with the legacy default stream
    uint64_t streams = 0;
  };
  using CapturePtr = std::shared_ptr<Capture>;
  struct CapturedStream {
    CapturePtr capture;
    std::vector<NodeId> tails; ///< what the next node depends on
    uint64_t index;
  };
  struct CapturedEvent {
    CapturePtr capture;
    std::vector<NodeId> nodes;
  };

  static StreamKey keyOf(Stream stream, bool zeroIsPerThread);
  static bool isLegacy(const StreamKey &key) { return key.handle == 0; }
  void noteActive();
  CapturedStream *find(const StreamKey &key);
  void add(const StreamKey &key, const CapturePtr &capture, std::vector<NodeId> tails);
  int refuse(CapturedStream &stream, int result);
  int waitIn(CapturedStream &stream, Event event, bool external);
  int recordIn(CapturedStream &stream, Event event, bool external);
  bool takeOutside(const StreamKey &key, bool hasStream, hip::CallId id, const hip::CallArguments &arguments,
                   int &result);
  bool join(const StreamKey &key, Event event, bool external, int &result);
  bool isUnsafe(hip::CallId id) const;
  bool unsafeRefused() const;
  using AddNode = std::function<int(HipNode *, HipGraph, const HipNode *, uint64_t)>; ///< HIP's, without the last
  int addNode(CapturedStream &stream, Node node, const AddNode &add);
  int addCall(CapturedStream &stream, hip::CallId id, const hip::CallArguments &arguments);

  std::mutex Mutex;
  std::map<StreamKey, CapturedStream> Streams;
  std::unordered_map<Event, CapturedEvent> Events;
  std::unordered_set<Event> External;
  std::vector<CapturePtr> All;
};

} // namespace wavesan::graph

#endif // WAVESAN_GRAPH_CAPTURE_H
