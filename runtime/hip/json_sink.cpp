// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON (docs/trace.md): one object, one record a line, so that what a killed process leaves can be read line by line.
#include "trace_sink.h"

#include "json_text.h"

#include <fstream>

#include <unistd.h>

namespace wavesan::hip {

namespace {

/// The command line of this process, blanks between the words.
std::string commandLine() {
  constexpr size_t kMaxLength = 4096;
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string text(kMaxLength, '\0');
  in.read(text.data(), std::streamsize(text.size()));
  text.resize(size_t(in.gcount()));
  while (!text.empty() && text.back() == '\0')
    text.pop_back();
  for (char &c : text)
    c = c == '\0' ? ' ' : c;
  return text;
}

class JsonSink : public TraceSink {
public:
  explicit JsonSink(TraceFile file) : File(std::move(file)) {
    File.write("{\"schema\":\"wavesan-trace\",\"schemaVersion\":1,\"process\":{\"id\":" + std::to_string(getpid()) +
                   ",\"command\":" + streams::quoted(commandLine()) + "},\"clock\":\"CLOCK_BOOTTIME\",\"records\":[",
               0);
  }

  void stream(const StreamInfo &s) override {
    begin("stream");
    field("id", s.id);
    text("type", name(s.kind));
    Line += ",\"device\":" + (s.device == kUnknownDevice ? "null" : std::to_string(s.device));
    Line += s.blocking ? ",\"blocking\":true" : ",\"blocking\":false";
    if (s.kind == StreamKind::PerThreadDefault)
      field("thread", s.thread);
    end(0);
  }

  void call(const CallRecord &c) override {
    const CallInfo &info = infoOf(c.id);
    begin("call");
    text("domain", kDomain);
    text("function", info.name);
    text("category", name(info.category));
    field("correlation_id", c.correlation);
    field("thread", c.thread);
    field("begin", c.begin);
    field("end", c.end);
    Line += ",\"result\":" + std::to_string(c.result);
    handle("stream_id", c.clock.stream);
    if (c.clock.stream)
      field("position", c.clock.position);
    if (c.event)
      field("event", c.event);
    if (c.generation)
      field("generation", c.generation);
    if (c.capture)
      field("capture", c.capture);
    const Producer *producer = c.eventDependency();
    handle("wait_on_stream", producer ? producer->clock.stream : 0);
    field("wait_on_correlation_id", producer ? producer->correlation : 0);
    if (c.waitKind != WaitKind::None)
      wait(c);
    end(c.end);
  }

  void race(const RaceMark &race) override {
    begin("race");
    for (const auto &[role, side] : {std::pair("current", &race.current), std::pair("previous", &race.previous)}) {
      key(role);
      Line += "{\"correlation_id\":" + std::to_string(side->correlation) + ",\"function\":\"" + side->function +
              "\",\"stream_id\":{\"handle\":" + std::to_string(side->stream) + "}}";
    }
    end(0);
  }

  void finish(const TraceSummary &s) override {
    File.write("\n],\"summary\":{\"calls\":" + std::to_string(s.calls) + ",\"waits\":" + std::to_string(s.waits) +
                   ",\"resolved\":" + std::to_string(s.resolved) + ",\"lost\":" + std::to_string(s.lost) +
                   ",\"failures\":" + std::to_string(s.failures) + "}}\n",
               0);
    File.finish();
  }
  void abandon() override { File.abandon(); }
  std::string takeError() override { return File.takeError(); }

private:
  void wait(const CallRecord &c) {
    Line += ",\"wait\":{\"kind\":\"";
    Line += name(c.waitKind);
    Line += '"';
    if (c.waitKind == WaitKind::HostForDevice) {
      Line += ",\"device\":" + (c.device == kUnknownDevice ? "null" : std::to_string(c.device));
      Line += '}';
      return;
    }
    text("state", name(c.wait.state));
    if (c.wait.event)
      field("event", c.wait.event);
    if (c.wait.shared)
      Line += ",\"shared\":true";
    if (c.wait.state == WaitState::Resolved || c.wait.state == WaitState::Captured) {
      const Producer &p = c.wait.producer;
      field("correlation_id", p.correlation);
      if (p.generation)
        field("generation", p.generation);
      if (p.capture)
        field("capture", p.capture);
      Line += ",\"clock\":{\"stream\":" + std::to_string(p.clock.stream) +
              ",\"position\":" + std::to_string(p.clock.position) + '}';
    }
    Line += '}';
  }

  void begin(const char *kind) {
    Line = First ? "\n{\"kind\":\"" : ",\n{\"kind\":\"";
    First = false;
    Line += kind;
    Line += '"';
  }
  void end(uint64_t now) {
    Line += '}';
    File.write(Line, now);
  }
  void key(const char *name) {
    Line += ",\"";
    Line += name;
    Line += "\":";
  }
  void field(const char *name, uint64_t value) {
    key(name);
    Line += std::to_string(value);
  }
  void text(const char *name, const char *value) {
    key(name);
    Line += '"';
    Line += value;
    Line += '"';
  }
  /// As rocprofv3 writes a stream.
  void handle(const char *name, StreamId id) {
    key(name);
    Line += "{\"handle\":" + std::to_string(id) + '}';
  }

  TraceFile File;
  std::string Line;
  bool First = true;
};

} // namespace

std::unique_ptr<TraceSink> makeJsonSink(TraceFile file) { return std::make_unique<JsonSink>(std::move(file)); }

} // namespace wavesan::hip
