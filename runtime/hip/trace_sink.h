// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a trace consists of, and who takes it. One file per format.
#ifndef WAVESAN_HIP_TRACE_SINK_H
#define WAVESAN_HIP_TRACE_SINK_H

#include "call_table.h"
#include "stream_table.h"
#include "trace_file.h"

#include <memory>

namespace wavesan::hip {

/// What a call waits for.
enum class WaitKind : uint8_t {
  None,
  StreamForEvent, ///< hipStreamWaitEvent
  HostForEvent,   ///< hipEventSynchronize, and hipEventQuery that says yes
  HostForStream,  ///< hipStreamSynchronize, and hipStreamQuery that says yes
  HostForDevice,  ///< every command that had been put into a stream of the device
  StreamForValue  ///< hipStreamWaitValue
};
const char *name(WaitKind);

struct CallRecord {
  CallId id{};
  uint32_t thread = 0;
  CorrelationId correlation = 0;
  uint64_t begin = 0, end = 0; ///< nanoseconds, CLOCK_BOOTTIME
  int result = 0;              ///< HIP's
  StreamClock clock;           ///< stream 0: the call has none
  uint64_t event = 0;          ///< number of the event that it is about; 0: none or unknown
  uint64_t generation = 0;     ///< of a record
  uint64_t capture = 0;        ///< number of the capture that the call was recorded into; 0: none
  int device = kUnknownDevice; ///< HostForDevice: which one
  WaitKind waitKind = WaitKind::None;
  ResolvedWait wait;

  /// The dependency that the columns Wait_On_Stream_Id and Wait_On_Correlation_Id show: those of the three functions
  /// that wait for an event. Null: none.
  const Producer *eventDependency() const;
};

/// A race between two commands (docs/stream-order.md).
struct RaceMark {
  struct Side {
    CorrelationId correlation = 0; ///< of the call; 0: an access of the host
    const char *function = "";
    StreamId stream = 0;
    uint32_t thread = 0; ///< that made the call
    uint64_t begin = 0;  ///< of the call
  };
  Side current, previous;
};

struct TraceSummary {
  uint64_t calls = 0, waits = 0, resolved = 0;
  uint64_t lost = 0;     ///< events, streams and waits that were too many to be followed
  uint64_t failures = 0; ///< calls that the tool could not record
};

/// Gets everything in the order in which the calls end, one call at a time. May throw std::bad_alloc.
class TraceSink {
public:
  virtual ~TraceSink() = default;
  virtual void stream(const StreamInfo &) = 0;
  virtual void call(const CallRecord &) = 0;
  /// Found at any time behind the two calls.
  virtual void race(const RaceMark &) {}
  /// Completes the file.
  virtual void finish(const TraceSummary &) = 0;
  /// In a forked child: what is buffered belongs to the parent.
  virtual void abandon() = 0;
  /// One line, once, when the file could not be written; else empty.
  virtual std::string takeError() = 0;
};

/// `columns` 10, or 7 for rocprofv3's older form.
std::unique_ptr<TraceSink> makeCsvSink(TraceFile, int columns);
/// docs/trace.md.
std::unique_ptr<TraceSink> makeJsonSink(TraceFile);
/// Perfetto's protobuf format.
std::unique_ptr<TraceSink> makePerfettoSink(TraceFile);

/// Dependencies between the calls, as JSON or for Graphviz.
std::unique_ptr<TraceSink> makeGraphSink(TraceFile, bool dot);

/// "HIP_RUNTIME_API".
inline constexpr char kDomain[] = "HIP_RUNTIME_API";

} // namespace wavesan::hip

#endif // WAVESAN_HIP_TRACE_SINK_H
