// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tracer: what happens before and after each HIP call.
//
// Ground rules: it never fails a call and never calls HIP (which would disturb the last error that the program asks
// for); what it cannot record is counted. begin() and end() do not throw. Everything that costs memory is bounded or
// written out.
#ifndef WAVESAN_HIP_TRACER_H
#define WAVESAN_HIP_TRACER_H

#include "call_arguments.h"
#include "stream_watch.h"
#include "trace_sink.h"
#include "value_producers.h"

#include <atomic>
#include <functional>
#include <vector>

namespace wavesan::hip {

/// What the tracer knows of a thread.
struct ThreadState {
  uint32_t id = 0;
  int device = 0; ///< the current one, as the thread has set it
};

/// A call that is under way.
struct CallState {
  bool recorded = false; ///< false: end() does nothing
  uint64_t session = 0;
  CallRecord record;
  StreamKey key;
  EventProducers::Forgotten event;
  StreamTable::Forgotten stream;
  WatchedCall watched;
};

/// Thread-safe.
class Tracer {
public:
  using SinkFactory = std::function<std::vector<std::unique_ptr<TraceSink>>()>;

  /// Starts a trace: earlier knowledge of events and streams is dropped. `sinks` is called before the first call is
  /// recorded; `say` gets lines for stderr.
  void attach(SinkFactory sinks, std::function<void(const std::string &)> say);
  /// Ends the trace and completes the files. Calls under way are not recorded.
  void detach();
  bool active() const { return Active.load(std::memory_order_relaxed); }
  /// From here on races between commands are looked for. To be called before attach(), once.
  void watchStreams(size_t historyBytes);
  /// Null: they are not.
  StreamWatch *watch() { return Watch.get(); }

  void begin(CallState &, CallId, const CallArguments &, const ThreadState &) noexcept;
  void end(CallState &, const CallArguments &, ThreadState &, int result) noexcept;
  void threadEnds(uint32_t thread) noexcept;

  /// Around fork(): no lock is held by a thread that the child does not have.
  void beforeFork() {
    SinkMutex.lock();
    if (Watch)
      Watch->beforeFork();
  }
  void afterForkInParent() {
    if (Watch)
      Watch->afterForkInParent();
    SinkMutex.unlock();
  }
  /// The child starts a trace of its own.
  void afterForkInChild();

  EventProducers &producers() { return *Producers; }
  StreamTable &streams() { return *Streams; }
  /// Calls recorded since attach().
  uint64_t callCount() const { return Calls.load(); }

private:
  void beginWait(CallState &, const CallArguments &, const std::optional<Producer> &last);
  void endEffect(CallState &, const CallArguments &, ThreadState &, std::optional<StreamInfo> &fresh);
  void recordEvent(CallState &, Event, const streams::Clock &knows);
  void keep(CallState &, const CallArguments &, ThreadState &, int result, uint64_t end);
  Producer producerOf(const CallRecord &) const;
  void emit(const StreamInfo &);
  void openSinks();
  void dropErrors();

  // By pointer, because a forked child replaces them: another thread may have held their locks.
  std::unique_ptr<EventProducers> Producers = std::make_unique<EventProducers>();
  std::unique_ptr<StreamTable> Streams = std::make_unique<StreamTable>();
  std::unique_ptr<ValueProducers> Values = std::make_unique<ValueProducers>();
  std::unique_ptr<StreamWatch> Watch;

  std::atomic<bool> Active{false};
  std::atomic<uint64_t> Session{0}, NextCorrelation{0}, Calls{0}, Waits{0}, Resolved{0}, Failures{0};

  std::mutex SinkMutex;
  SinkFactory Factory;
  std::function<void(const std::string &)> Say;
  std::vector<std::unique_ptr<TraceSink>> Sinks;
  bool Opened = false;
};

} // namespace wavesan::hip

#endif // WAVESAN_HIP_TRACER_H
