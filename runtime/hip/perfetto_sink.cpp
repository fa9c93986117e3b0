// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Perfetto's trace format (perfetto.dev, protos/perfetto/trace): a sequence of packets.
//
// Tracks: one for the process, one for each thread that calls HIP, and for each stream one per thread that uses it;
// those of one stream have one name and one parent, so the UI draws them as one. A call is a slice in its thread's
// track and, if it has a stream, in the stream's, too. A resolved wait is an arrow: an instant event inside the
// producer's slice begins a flow of its own, which the waiter's slice ends. (One flow per wait: slices that share one
// would be chained.)
//
// Packets carry their own time stamps; the reader sorts them. Names are not interned, so every packet stands alone, and
// a file that ends early is a shorter trace.
#include "trace_sink.h"

#include "protobuf.h"

#include <unordered_set>

#include <unistd.h>

namespace wavesan::hip {

namespace {

namespace field {
constexpr uint32_t kTracePacket = 1;
// TracePacket
constexpr uint32_t kTimestamp = 8, kSequenceId = 10, kTrackEvent = 11, kSequenceFlags = 13, kTrackDescriptor = 60;
// TrackDescriptor
constexpr uint32_t kUuid = 1, kTrackName = 2, kProcess = 3, kThread = 4, kParent = 5;
// ProcessDescriptor and ThreadDescriptor
constexpr uint32_t kPid = 1, kTid = 2;
// TrackEvent
constexpr uint32_t kAnnotations = 4, kType = 9, kTrack = 11, kCategories = 22, kEventName = 23, kFlows = 47,
                   kTerminatingFlows = 48;
// DebugAnnotation
constexpr uint32_t kUnsigned = 3, kSigned = 4, kText = 6, kAnnotationName = 10;
} // namespace field

constexpr uint64_t kSliceBegin = 1, kSliceEnd = 2, kInstant = 3;
constexpr uint64_t kIncrementalStateCleared = 1;

/// Tracks that have been described; when there are more, they are described again (which changes nothing).
constexpr size_t kMaxTracks = 1 << 16;

class PerfettoSink : public TraceSink {
public:
  explicit PerfettoSink(TraceFile file) : File(std::move(file)), Pid(uint64_t(getpid())) {
    Message process;
    process.number(field::kPid, Pid);
    Message track;
    track.number(field::kUuid, uuid(0, 0, 0));
    track.message(field::kProcess, process);
    Message packet;
    packet.number(field::kSequenceFlags, kIncrementalStateCleared);
    packet.message(field::kTrackDescriptor, track);
    write(packet, 0);
  }

  void stream(const StreamInfo &) override {}

  void call(const CallRecord &c) override {
    const bool resolved = c.wait.state == WaitState::Resolved;
    if (resolved) {
      const Producer &p = c.wait.producer;
      Message event = trackEvent(kInstant, threadTrack(p.thread));
      event.bytes(field::kEventName, "waited for");
      event.fixed64(field::kFlows, flow(c));
      packet(event, p.begin + (p.end - p.begin) / 2);
    }
    slice(c, threadTrack(c.thread), resolved);
    if (c.clock.stream)
      slice(c, streamTrack(c.clock.stream, c.thread), false);
  }

  void race(const RaceMark &race) override {
    for (const auto &[side, other] : {std::pair(&race.current, &race.previous), std::pair(&race.previous, &race.current)}) {
      if (!side->stream)
        continue;
      Message event = trackEvent(kInstant, streamTrack(side->stream, side->thread));
      event.bytes(field::kCategories, "race");
      event.bytes(field::kEventName, "race of " + std::string(side->function) + " with " +
                                         (other->stream ? other->function : "the host"));
      annotate(event, "correlation_id", side->correlation);
      annotate(event, "other_correlation_id", other->correlation);
      packet(event, side->begin);
    }
  }

  void finish(const TraceSummary &) override { File.finish(); }
  void abandon() override { File.abandon(); }
  std::string takeError() override { return File.takeError(); }

private:
  /// Unlikely to meet another one: of this process and of others, whose files may be joined.
  uint64_t uuid(uint64_t kind, uint64_t a, uint64_t b) const {
    uint64_t hash = Pid * 4 + kind;
    for (const uint64_t part : {a, b}) {
      hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
      hash *= 0xbf58476d1ce4e5b9u;
      hash ^= hash >> 32;
    }
    return hash | 1; // 0 is a track of its own
  }

  /// Waiters are unique by their correlation ids.
  uint64_t flow(const CallRecord &c) const { return Pid << 40 ^ c.correlation; }

  bool isNew(uint64_t track) {
    if (Described.size() >= kMaxTracks)
      Described.clear();
    return Described.insert(track).second;
  }

  uint64_t threadTrack(uint32_t thread) {
    const uint64_t id = uuid(1, thread, 0);
    if (isNew(id)) {
      Message descriptor;
      descriptor.number(field::kPid, Pid);
      descriptor.number(field::kTid, thread);
      Message track;
      track.number(field::kUuid, id);
      track.number(field::kParent, uuid(0, 0, 0));
      track.message(field::kThread, descriptor);
      describe(track);
    }
    return id;
  }

  uint64_t streamTrack(StreamId stream, uint32_t thread) {
    const uint64_t id = uuid(2, stream, thread);
    if (isNew(id)) {
      Message track;
      track.number(field::kUuid, id);
      track.number(field::kParent, uuid(0, 0, 0));
      track.bytes(field::kTrackName, "stream " + std::to_string(stream));
      describe(track);
    }
    return id;
  }

  static Message trackEvent(uint64_t type, uint64_t track) {
    Message event;
    event.number(field::kType, type);
    event.number(field::kTrack, track);
    return event;
  }

  void slice(const CallRecord &c, uint64_t track, bool endsFlow) {
    const CallInfo &info = infoOf(c.id);
    Message begin = trackEvent(kSliceBegin, track);
    begin.bytes(field::kCategories, name(info.category));
    begin.bytes(field::kEventName, info.name);
    annotate(begin, "correlation_id", c.correlation);
    if (c.clock.stream)
      annotate(begin, "stream_ID", c.clock.stream);
    if (c.result) {
      Message annotation;
      annotation.bytes(field::kAnnotationName, "result");
      annotation.number(field::kSigned, uint64_t(int64_t(c.result)));
      begin.message(field::kAnnotations, annotation);
    }
    if (c.waitKind != WaitKind::None) {
      Message annotation;
      annotation.bytes(field::kAnnotationName, "wait_state");
      annotation.bytes(field::kText, c.waitKind == WaitKind::HostForDevice ? "device" : name(c.wait.state));
      begin.message(field::kAnnotations, annotation);
    }
    if (const Producer *producer = c.eventDependency()) {
      annotate(begin, "wait_on_stream_ID", producer->clock.stream);
      annotate(begin, "wait_on_corr_id", producer->correlation);
    }
    if (endsFlow)
      begin.fixed64(field::kTerminatingFlows, flow(c));
    packet(begin, c.begin);
    packet(trackEvent(kSliceEnd, track), c.end);
  }

  static void annotate(Message &event, const char *name, uint64_t value) {
    Message annotation;
    annotation.bytes(field::kAnnotationName, name);
    annotation.number(field::kUnsigned, value);
    event.message(field::kAnnotations, annotation);
  }

  void describe(const Message &track) {
    Message packet;
    packet.message(field::kTrackDescriptor, track);
    write(packet, 0);
  }

  void packet(const Message &event, uint64_t time) {
    Message packet;
    packet.number(field::kTimestamp, time);
    packet.message(field::kTrackEvent, event);
    write(packet, time);
  }

  void write(Message &packet, uint64_t now) {
    packet.number(field::kSequenceId, Pid);
    Message trace;
    trace.message(field::kTracePacket, packet);
    File.write(trace.encoded(), now);
  }

  TraceFile File;
  const uint64_t Pid;
  std::unordered_set<uint64_t> Described;
};

} // namespace

std::unique_ptr<TraceSink> makePerfettoSink(TraceFile file) { return std::make_unique<PerfettoSink>(std::move(file)); }

} // namespace wavesan::hip
