// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tracer, call by call, with a sink that keeps everything. HIP is what the test says it is.
#include "tracer.h"

#include <gtest/gtest.h>

#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace wavesan::hip;

namespace {

struct Kept {
  std::vector<StreamInfo> streams;
  std::vector<CallRecord> calls;
  TraceSummary summary;
  bool finished = false, abandoned = false;
};

class KeepingSink : public TraceSink {
public:
  explicit KeepingSink(Kept &kept) : Into(kept) {}
  void stream(const StreamInfo &s) override { Into.streams.push_back(s); }
  void call(const CallRecord &c) override { Into.calls.push_back(c); }
  void finish(const TraceSummary &s) override {
    Into.summary = s;
    Into.finished = true;
  }
  void abandon() override { Into.abandoned = true; }
  std::string takeError() override { return {}; }

private:
  Kept &Into;
};

Stream stream(uintptr_t n) { return reinterpret_cast<Stream>(0x1000 + n * 64); }
Event event(uintptr_t n) { return reinterpret_cast<Event>(0x900000 + n * 64); }

class TracerTest : public ::testing::Test {
protected:
  void SetUp() override { attach(); }
  void attach() {
    tracer.attach(
        [this] {
          std::vector<std::unique_ptr<TraceSink>> sinks;
          sinks.push_back(std::make_unique<KeepingSink>(kept));
          return sinks;
        },
        nullptr);
  }

  /// A call from its entry to its exit, with `during` in between.
  template <class During, class... A> const CallRecord &callWith(CallId id, int result, During during, A... a) {
    CallArguments arguments;
    (arguments.add(a), ...);
    CallState state;
    tracer.begin(state, id, arguments, thread);
    during();
    tracer.end(state, arguments, thread, result);
    static const CallRecord none;
    return kept.calls.empty() ? none : kept.calls.back();
  }
  template <class... A> CallRecord call(CallId id, A... a) {
    return callWith(id, kHipSuccess, [] {}, a...);
  }
  template <class... A> CallRecord failing(int result, CallId id, A... a) {
    return callWith(id, result, [] {}, a...);
  }
  void makeStream(uintptr_t n, uint32_t flags = 0) {
    Stream made = stream(n);
    call(CallId::hipStreamCreateWithFlags, &made, flags);
  }
  void makeEvent(uintptr_t n) {
    Event made = event(n);
    call(CallId::hipEventCreate, &made);
  }
  CallRecord record(uintptr_t e, uintptr_t s) { return call(CallId::hipEventRecord, event(e), stream(s)); }
  CallRecord wait(uintptr_t s, uintptr_t e) { return call(CallId::hipStreamWaitEvent, stream(s), event(e), 0u); }
  CallRecord launch(uintptr_t s) {
    const Dim3 one{1, 1, 1};
    return call(CallId::hipLaunchKernel, static_cast<void *>(nullptr), one, one, static_cast<void *>(nullptr),
                uint64_t(0), stream(s));
  }

  Tracer tracer;
  ThreadState thread{11, 0};
  Kept kept;
};

} // namespace

TEST_F(TracerTest, AWaitDependsOnTheRecordOfItsEvent) {
  makeStream(1);
  makeStream(2);
  makeEvent(1);
  launch(1);
  const CallRecord r = record(1, 1);
  const CallRecord w = wait(2, 1);
  EXPECT_EQ(w.waitKind, WaitKind::StreamForEvent);
  EXPECT_EQ(w.wait.state, WaitState::Resolved);
  EXPECT_EQ(w.wait.producer.correlation, r.correlation);
  EXPECT_EQ(w.wait.producer.clock, r.clock);
  EXPECT_EQ(w.wait.producer.generation, 1u);
  EXPECT_EQ(r.clock.position, 2u); // the launch, the record
  EXPECT_NE(w.clock.stream, r.clock.stream);
  ASSERT_NE(w.eventDependency(), nullptr);
  EXPECT_EQ(r.eventDependency(), nullptr);
  EXPECT_EQ(w.event, r.event);
}

TEST_F(TracerTest, TheSevenOperations) {
  makeStream(1);
  makeEvent(1);
  EXPECT_EQ(call(CallId::hipEventSynchronize, event(1)).wait.state, WaitState::NeverRecorded);
  const CallRecord plain = record(1, 1);
  EXPECT_EQ(call(CallId::hipEventSynchronize, event(1)).wait.producer.correlation, plain.correlation);
  const CallRecord perThread = call(CallId::hipEventRecord_spt, event(1), Stream());
  EXPECT_EQ(wait(1, 1).wait.producer.correlation, perThread.correlation);
  const CallRecord flags = call(CallId::hipEventRecordWithFlags, event(1), stream(1), 0u);
  EXPECT_EQ(call(CallId::hipStreamWaitEvent_spt, Stream(), event(1), 0u).wait.producer.correlation, flags.correlation);
  EXPECT_EQ(flags.generation, 3u);
  call(CallId::hipEventDestroy, event(1));
  EXPECT_EQ(call(CallId::hipEventSynchronize, event(1)).wait.state, WaitState::BeforeAttach);
}

TEST_F(TracerTest, ARecordDuringTheWaitIsNotWhatIsWaitedFor) {
  makeStream(1);
  makeEvent(1);
  const CallRecord first = record(1, 1);
  CallRecord second;
  const CallRecord w = callWith(CallId::hipEventSynchronize, kHipSuccess, [&] { second = record(1, 1); }, event(1));
  EXPECT_EQ(w.wait.producer.correlation, first.correlation);
  EXPECT_EQ(call(CallId::hipEventSynchronize, event(1)).wait.producer.correlation, second.correlation);
}

TEST_F(TracerTest, ADestroyThatIsUnderWayDoesNotEraseANewEvent) {
  makeStream(1);
  makeEvent(1);
  record(1, 1);
  CallRecord fresh;
  callWith(
      CallId::hipEventDestroy, kHipSuccess,
      [&] {
        makeEvent(1);
        fresh = record(1, 1);
      },
      event(1));
  EXPECT_EQ(wait(1, 1).wait.producer.correlation, fresh.correlation);
}

TEST_F(TracerTest, FailedCallsChangeNothing) {
  makeStream(1);
  makeEvent(1);
  const CallRecord r = record(1, 1);
  failing(1, CallId::hipEventRecord, event(1), stream(1));
  failing(1, CallId::hipEventDestroy, event(1));
  failing(1, CallId::hipStreamDestroy, stream(1));
  const CallRecord w = wait(1, 1);
  EXPECT_EQ(w.wait.producer.correlation, r.correlation);
  EXPECT_EQ(w.clock.stream, r.clock.stream);
  const CallRecord f = failing(1, CallId::hipStreamWaitEvent, stream(1), event(1), 0u);
  EXPECT_EQ(f.wait.state, WaitState::NoDependency);
  EXPECT_EQ(f.result, 1);
  EXPECT_EQ(tracer.producers().waitCount(), 0u);
}

TEST_F(TracerTest, QueriesOrderOnlyWhenTheySucceed) {
  makeStream(1);
  makeEvent(1);
  const CallRecord r = record(1, 1);
  EXPECT_EQ(failing(kHipErrorNotReady, CallId::hipEventQuery, event(1)).waitKind, WaitKind::None);
  EXPECT_EQ(call(CallId::hipEventQuery, event(1)).wait.producer.correlation, r.correlation);
  EXPECT_EQ(failing(kHipErrorNotReady, CallId::hipStreamQuery, stream(1)).waitKind, WaitKind::None);
  const CallRecord last = launch(1);
  EXPECT_EQ(call(CallId::hipStreamQuery, stream(1)).wait.producer.correlation, last.correlation);
  const CallRecord s = call(CallId::hipStreamSynchronize, stream(1));
  EXPECT_EQ(s.waitKind, WaitKind::HostForStream);
  EXPECT_EQ(s.wait.producer.clock, last.clock);
  // The columns belong to the three functions that wait for events.
  EXPECT_EQ(s.eventDependency(), nullptr);
}

TEST_F(TracerTest, SynchronisingAnUnusedStreamIsNoDependency) {
  makeStream(1);
  EXPECT_EQ(call(CallId::hipStreamSynchronize, stream(1)).wait.state, WaitState::NoDependency);
}

TEST_F(TracerTest, DeviceSynchroniseNamesTheDevice) {
  call(CallId::hipSetDevice, 3);
  const CallRecord s = call(CallId::hipDeviceSynchronize);
  EXPECT_EQ(s.waitKind, WaitKind::HostForDevice);
  EXPECT_EQ(s.device, 3);
  failing(101, CallId::hipSetDevice, 9);
  EXPECT_EQ(call(CallId::hipDeviceSynchronize).device, 3);
  call(CallId::hipCtxSetCurrent, static_cast<void *>(nullptr));
  EXPECT_EQ(call(CallId::hipDeviceSynchronize).device, kUnknownDevice);
}

TEST_F(TracerTest, NullStreams) {
  auto streamOf = [&](CallId id, Stream s) { return call(id, event(1), s).clock.stream; };
  const StreamId legacy = streamOf(CallId::hipEventRecord, Stream());
  EXPECT_EQ(streamOf(CallId::hipEventRecord, reinterpret_cast<Stream>(kLegacyStreamHandle)), legacy);
  const StreamId own = streamOf(CallId::hipEventRecord_spt, Stream());
  EXPECT_NE(own, legacy);
  EXPECT_EQ(streamOf(CallId::hipEventRecord, reinterpret_cast<Stream>(kPerThreadStreamHandle)), own);
  thread.id = 12;
  EXPECT_EQ(streamOf(CallId::hipEventRecord, Stream()), legacy);
  EXPECT_NE(streamOf(CallId::hipEventRecord_spt, Stream()), own);
  call(CallId::hipSetDevice, 1);
  EXPECT_NE(streamOf(CallId::hipEventRecord, Stream()), legacy); // each device has its own
  // Calls without a stream argument use the default stream.
  call(CallId::hipSetDevice, 0);
  EXPECT_EQ(call(CallId::hipMemset, static_cast<void *>(nullptr), 0, uint64_t(4)).clock.stream, legacy);
  EXPECT_EQ(call(CallId::hipMalloc, static_cast<void *>(nullptr), uint64_t(4)).clock.stream, 0u);
  EXPECT_EQ(kept.streams.size(), 4u);
}

TEST_F(TracerTest, AnEndedThreadsStreamsAreForgotten) {
  call(CallId::hipEventRecord_spt, event(1), Stream());
  EXPECT_EQ(tracer.streams().streamCount(), 1u);
  tracer.threadEnds(11);
  EXPECT_EQ(tracer.streams().streamCount(), 0u);
}

TEST_F(TracerTest, CaptureIsNoExecution) {
  makeStream(1);
  makeStream(2);
  makeStream(3);
  makeEvent(1);
  const CallRecord before = record(1, 3);
  call(CallId::hipStreamBeginCapture, stream(1), 0);
  const CallRecord captured = record(1, 1);
  EXPECT_NE(captured.capture, 0u);
  EXPECT_EQ(captured.generation, 0u);
  const CallRecord joined = wait(2, 1);
  EXPECT_EQ(joined.wait.state, WaitState::Captured);
  EXPECT_EQ(joined.wait.producer.correlation, captured.correlation);
  EXPECT_EQ(joined.eventDependency(), nullptr);
  EXPECT_EQ(launch(2).capture, captured.capture); // part of the capture now
  EXPECT_EQ(launch(3).capture, 0u);
  call(CallId::hipStreamEndCapture, stream(1), static_cast<void *>(nullptr));
  EXPECT_EQ(launch(1).capture, 0u);
  EXPECT_EQ(launch(2).capture, 0u);
  // Synchronising waits for what was executed, not for what was captured.
  makeEvent(2);
  record(2, 2);
  EXPECT_EQ(wait(3, 2).wait.state, WaitState::Resolved);
  EXPECT_EQ(tracer.producers().lookup(event(1))->correlation, before.correlation);
}

TEST_F(TracerTest, CaptureThatFailsToEnd) {
  makeStream(1);
  call(CallId::hipStreamBeginCapture, stream(1), 0);
  failing(908, CallId::hipStreamEndCapture, stream(1), static_cast<void *>(nullptr)); // wrong thread: goes on
  EXPECT_NE(launch(1).capture, 0u);
  failing(kHipErrorStreamCaptureInvalidated, CallId::hipStreamEndCapture, stream(1), static_cast<void *>(nullptr));
  EXPECT_EQ(launch(1).capture, 0u);
}

TEST_F(TracerTest, AnExternalRecordInACaptureBelongsToTheGraph) {
  makeStream(1);
  makeEvent(1);
  call(CallId::hipStreamBeginCapture, stream(1), 0);
  call(CallId::hipEventRecordWithFlags, event(1), stream(1), 1u);
  EXPECT_EQ(wait(1, 1).wait.state, WaitState::GraphRecord);
}

TEST_F(TracerTest, LaunchesRecordTheirEvents) {
  makeStream(1);
  makeEvent(1);
  makeEvent(2);
  const Dim3 one{1, 1, 1};
  const CallRecord l = call(CallId::hipExtLaunchKernel, static_cast<void *>(nullptr), one, one,
                            static_cast<void *>(nullptr), uint64_t(0), stream(1), event(1), event(2), 0);
  EXPECT_EQ(wait(1, 1).wait.producer.correlation, l.correlation);
  EXPECT_EQ(wait(1, 2).wait.producer.correlation, l.correlation);
}

TEST_F(TracerTest, EventsOfOtherProcesses) {
  Event opened = event(1);
  call(CallId::hipIpcOpenEventHandle, &opened, IpcHandle());
  EXPECT_EQ(call(CallId::hipEventSynchronize, event(1)).wait.state, WaitState::OtherProcess);
}

TEST_F(TracerTest, ValuesOfStreams) {
  makeStream(1);
  makeStream(2);
  int cell = 0;
  void *address = &cell;
  auto waitFor = [&](uint64_t value, uint32_t condition) {
    return call(CallId::hipStreamWaitValue64, stream(2), address, value, condition, ~uint64_t(0)).wait;
  };
  EXPECT_EQ(waitFor(5, 0).state, WaitState::BeforeAttach);
  const CallRecord w = call(CallId::hipStreamWriteValue64, stream(1), address, uint64_t(5), 0u);
  EXPECT_EQ(waitFor(5, 0).producer.correlation, w.correlation);
  EXPECT_EQ(waitFor(5, 1).state, WaitState::Resolved);
  EXPECT_EQ(waitFor(6, 0).state, WaitState::BeforeAttach); // that write does not let it pass
  EXPECT_EQ(waitFor(4, 2).state, WaitState::Resolved);
  EXPECT_EQ(waitFor(2, 2).state, WaitState::BeforeAttach);
}

TEST_F(TracerTest, AStreamHandleIsReused) {
  makeStream(1);
  const StreamId old = launch(1).clock.stream;
  call(CallId::hipStreamDestroy, stream(1));
  makeStream(1, kStreamNonBlocking);
  const CallRecord first = launch(1);
  EXPECT_NE(first.clock.stream, old);
  EXPECT_EQ(first.clock.position, 1u);
  EXPECT_FALSE(kept.streams.back().blocking);
}

TEST_F(TracerTest, AStreamFromBeforeTheTrace) {
  EXPECT_EQ(call(CallId::hipStreamQuery, stream(9)).wait.state, WaitState::NoDependency);
  ASSERT_EQ(kept.streams.size(), 1u);
  EXPECT_EQ(kept.streams[0].kind, StreamKind::BeforeAttach);
  EXPECT_EQ(kept.streams[0].device, kUnknownDevice);
}

TEST_F(TracerTest, ReattachForgetsEverything) {
  makeStream(1);
  makeEvent(1);
  const CallRecord old = record(1, 1);
  tracer.detach();
  EXPECT_TRUE(kept.finished);
  EXPECT_EQ(kept.summary.calls, 3u);
  attach();
  const CallRecord w = wait(1, 1);
  EXPECT_EQ(w.wait.state, WaitState::BeforeAttach);
  EXPECT_GT(w.correlation, old.correlation);
  // A call that began in the trace before is in neither.
  const size_t calls = kept.calls.size();
  callWith(
      CallId::hipEventRecord, kHipSuccess,
      [&] {
        tracer.detach();
        attach();
      },
      event(1), stream(1));
  EXPECT_EQ(kept.calls.size(), calls);
  EXPECT_EQ(tracer.producers().lookup(event(1)), std::nullopt);
}

TEST_F(TracerTest, DetachedTracerRecordsNothing) {
  tracer.detach();
  makeStream(1);
  EXPECT_TRUE(kept.calls.empty());
  EXPECT_FALSE(kept.finished); // no call, no file
}

TEST_F(TracerTest, AForkedChildBeginsAnew) {
  makeStream(1);
  tracer.beforeFork();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) { // a process of its own: what it abandons is no leak of the test's
    tracer.afterForkInChild();
    EXPECT_TRUE(kept.abandoned);
    EXPECT_EQ(tracer.callCount(), 0u);
    makeEvent(1);
    EXPECT_EQ(tracer.callCount(), 1u);
    _exit(HasFailure());
  }
  tracer.afterForkInParent();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the child's expectations are printed above";
  EXPECT_FALSE(kept.abandoned);
  EXPECT_EQ(tracer.callCount(), 1u);
}

TEST_F(TracerTest, AWaitInAnotherThreadComesBehindItsRecord) {
  makeStream(1);
  makeStream(2);
  makeEvent(1);
  std::thread recording([&] {
    ThreadState other{21, 0};
    for (int i = 0; i < 500; ++i) {
      CallArguments arguments;
      arguments.add(event(1));
      arguments.add(stream(1));
      CallState state;
      tracer.begin(state, CallId::hipEventRecord, arguments, other);
      tracer.end(state, arguments, other, kHipSuccess);
    }
  });
  for (int i = 0; i < 500; ++i) {
    CallArguments arguments;
    arguments.add(stream(2));
    arguments.add(event(1));
    CallState state;
    tracer.begin(state, CallId::hipStreamWaitEvent, arguments, thread);
    tracer.end(state, arguments, thread, kHipSuccess);
  }
  recording.join();
  std::vector<CorrelationId> recorded;
  size_t resolvedWaits = 0;
  for (const CallRecord &c : kept.calls) {
    if (c.id == CallId::hipEventRecord)
      recorded.push_back(c.correlation);
    if (c.id != CallId::hipStreamWaitEvent || c.wait.state != WaitState::Resolved)
      continue;
    ++resolvedWaits;
    EXPECT_NE(std::find(recorded.begin(), recorded.end(), c.wait.producer.correlation), recorded.end());
  }
  EXPECT_EQ(recorded.size(), 500u);
  EXPECT_EQ(wait(2, 1).wait.producer.generation, 500u);
  RecordProperty("resolved", int(resolvedWaits));
}
