// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CSV in the form of rocprofv3's HIP API trace.
#include "trace_sink.h"

#include <cinttypes>
#include <cstdio>

#include <unistd.h>

namespace wavesan::hip {

namespace {

class CsvSink : public TraceSink {
public:
  CsvSink(TraceFile file, bool wide) : File(std::move(file)), Wide(wide) {
    File.write(
        std::string("\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\","
                    "\"End_Timestamp\"") +
            (Wide ? ",\"Stream_Id\",\"Wait_On_Stream_Id\",\"Wait_On_Correlation_Id\"\n" : "\n"),
        0);
  }

  void stream(const StreamInfo &) override {}

  void call(const CallRecord &c) override {
    char line[320];
    int n = std::snprintf(line, sizeof line, "\"%s\",\"%s\",%d,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64, kDomain,
                          infoOf(c.id).name, int(getpid()), c.thread, c.correlation, c.begin, c.end);
    if (Wide) {
      const Producer *producer = c.eventDependency();
      n += std::snprintf(line + n, sizeof line - size_t(n), ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, c.clock.stream,
                         producer ? producer->clock.stream : 0, producer ? producer->correlation : 0);
    }
    line[n++] = '\n';
    File.write({line, size_t(n)}, c.end);
  }

  void finish(const TraceSummary &) override { File.finish(); }
  void abandon() override { File.abandon(); }
  std::string takeError() override { return File.takeError(); }

private:
  TraceFile File;
  const bool Wide;
};

} // namespace

std::unique_ptr<TraceSink> makeCsvSink(TraceFile file, int columns) {
  return std::make_unique<CsvSink>(std::move(file), columns != 7);
}

} // namespace wavesan::hip
