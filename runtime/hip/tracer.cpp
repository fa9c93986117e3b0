// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Before and after each HIP call.
#include "tracer.h"

#include <ctime>

namespace wavesan::hip {

namespace {

uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

WaitKind waitKindOf(Action action) {
  switch (action) {
  case Action::StreamWaitEvent:
    return WaitKind::StreamForEvent;
  case Action::EventSynchronize:
  case Action::EventQuery:
    return WaitKind::HostForEvent;
  case Action::StreamSynchronize:
  case Action::StreamQuery:
    return WaitKind::HostForStream;
  case Action::DeviceSynchronize:
    return WaitKind::HostForDevice;
  case Action::WaitValue:
    return WaitKind::StreamForValue;
  default:
    return WaitKind::None;
  }
}

/// HIP puts it into the stream, and does not record it, while the stream is captured (5.2 to 6.2).
bool canBeCaptured(CallId id) { return id != CallId::hipStreamAddCallback && id != CallId::hipStreamAddCallback_spt; }

bool isQuery(Action action) { return action == Action::EventQuery || action == Action::StreamQuery; }

/// Whether the capture is over although hipStreamEndCapture reports an error.
bool endsCapture(int result) {
  return result == kHipSuccess || result == kHipErrorStreamCaptureInvalidated ||
         result == kHipErrorStreamCaptureUnjoined;
}

/// What the start event of a launch stands for: what the launch follows.
streams::Clock beforeLaunch(const WatchedCall &call) {
  return call.before || !call.after ? call.before : std::make_shared<const streams::KnownCommands>();
}

constexpr uint64_t kEventRecordExternal = 1; ///< flag of hipEventRecordWithFlags: a node of the graph

} // namespace

void Tracer::attach(SinkFactory sinks, std::function<void(const std::string &)> say) {
  std::lock_guard lock(SinkMutex);
  Producers->clearAll();
  Streams->clearAll();
  Values->clearAll();
  Calls = Waits = Resolved = Failures = 0;
  Sinks.clear();
  Opened = false;
  Factory = std::move(sinks);
  Say = std::move(say);
  ++Session;
  Active = true;
}

void Tracer::watchStreams(size_t historyBytes) {
  Watch = std::make_unique<StreamWatch>(historyBytes);
  Watch->setResolve([this](Event event) { return Producers->resolve(event); });
  Watch->setMark([this](const RaceMark &mark) {
    std::lock_guard lock(SinkMutex);
    if (!active())
      return;
    openSinks();
    for (auto &sink : Sinks)
      sink->race(mark);
    dropErrors();
  });
}

void Tracer::detach() {
  const uint64_t notRecorded = Watch ? Watch->finishRegions() : 0;
  std::lock_guard lock(SinkMutex);
  if (!Active.exchange(false))
    return;
  ++Session;
  const TraceSummary summary = {Calls, Waits, Resolved, Producers->lost() + Streams->lost(), Failures};
  for (auto &sink : Sinks)
    sink->finish(summary);
  dropErrors();
  if (Opened && Say && (summary.lost || summary.failures))
    Say("trace: " + std::to_string(summary.lost) + " events, streams or waits were too many to follow, " +
        std::to_string(summary.failures) + " calls could not be recorded");
  if (notRecorded && Say)
    Say("record: " + std::to_string(notRecorded) +
        " further times that the region was entered were not recorded "
        "(option record_max)");
  Sinks.clear();
}

void Tracer::afterForkInChild() {
  for (auto &sink : Sinks)
    sink->abandon();
  Sinks.clear();
  Opened = false;
  Calls = Waits = Resolved = Failures = 0;
  ++Session;
  // Their locks may be held by threads that exist in the parent only; so they are left behind.
  static_cast<void>(Producers.release());
  static_cast<void>(Streams.release());
  static_cast<void>(Values.release());
  if (Watch)
    Watch->afterForkInChild();
  Producers = std::make_unique<EventProducers>();
  Streams = std::make_unique<StreamTable>();
  Values = std::make_unique<ValueProducers>();
  SinkMutex.unlock();
}

void Tracer::threadEnds(uint32_t thread) noexcept {
  if (active())
    Streams->forgetThread(thread);
}

void Tracer::begin(CallState &state, CallId id, const CallArguments &arguments, const ThreadState &thread) noexcept {
  try {
    const CallInfo &info = infoOf(id);
    CallRecord &record = state.record;
    state.session = Session.load();
    record.id = id;
    record.thread = thread.id;
    record.device = thread.device;
    record.correlation = ++NextCorrelation;

    std::optional<Producer> last;
    const bool command = isCommand(info.action);
    if (arguments.hasStream || command) {
      state.key = streamKey(arguments.stream, info.perThread(), thread.device, thread.id);
      const StreamTable::Use use = Streams->use(state.key, command);
      record.clock = use.clock;
      record.capture = command && canBeCaptured(id) ? use.capture : 0;
      last = use.last;
      if (use.fresh) {
        emit(*use.fresh);
        if (Watch)
          Watch->stream(*use.fresh, nullptr);
      }
    }
    if (arguments.eventCount)
      record.event = Producers->numberOf(arguments.events[0]);
    record.waitKind = waitKindOf(info.action);
    if (record.waitKind != WaitKind::None)
      beginWait(state, arguments, last);
    if (info.action == Action::EventDestroy)
      state.event = Producers->take(arguments.events[0]);
    if (info.action == Action::StreamDestroy)
      state.stream = Streams->take(state.key);
    if (info.category == Category::HostFunction) // becomes a command before the call
      record.begin = now();
    if (Watch)
      Watch->begin(state.watched, record, arguments);
    state.recorded = true;
    record.begin = now();
  } catch (...) {
    ++Failures;
  }
}

void Tracer::beginWait(CallState &state, const CallArguments &arguments, const std::optional<Producer> &last) {
  CallRecord &record = state.record;
  ResolvedWait wait;
  switch (record.waitKind) {
  case WaitKind::StreamForEvent:
  case WaitKind::HostForEvent:
    wait = Producers->resolve(arguments.events[0]);
    break;
  case WaitKind::HostForStream:
    if (last) {
      wait.state = WaitState::Resolved;
      wait.producer = *last;
    }
    break;
  case WaitKind::StreamForValue:
    wait = Values->resolve(arguments.pointer, arguments.numbers[0], arguments.numbers[1], arguments.numbers[2]);
    break;
  case WaitKind::HostForDevice:
  case WaitKind::None:
    return;
  }
  Producers->stash(record.correlation, wait);
}

void Tracer::end(CallState &state, const CallArguments &arguments, ThreadState &thread, int result) noexcept {
  const uint64_t end = now();
  try {
    if (!state.recorded)
      return;
    keep(state, arguments, thread, result, end);
  } catch (...) {
    ++Failures;
  }
  if (Watch && state.recorded)
    Watch->report();
}

void Tracer::keep(CallState &state, const CallArguments &arguments, ThreadState &thread, int result, uint64_t end) {
  // Another call cannot be written between what this one changes and its own line: a wait always comes behind the
  // record that it depends on.
  std::lock_guard lock(SinkMutex);
  if (state.session != Session.load() || !active()) {
    if (Watch)
      Watch->fail(state.watched);
    return;
  }
  CallRecord &record = state.record;
  record.end = end;
  record.result = result;
  const bool succeeded = result == kHipSuccess;
  const Action action = infoOf(record.id).action;
  std::optional<ResolvedWait> wait = Producers->consume(record.correlation);
  if (!succeeded && isQuery(action))
    record.waitKind = WaitKind::None; // not there yet: nothing is ordered by it
  else if (succeeded && wait)
    record.wait = *wait;
  else if (succeeded && record.waitKind != WaitKind::None && record.waitKind != WaitKind::HostForDevice)
    record.wait.state = WaitState::Lost;

  if (Watch && succeeded && (!isQuery(action) || record.waitKind != WaitKind::None))
    Watch->end(state.watched, record, arguments);
  else if (Watch)
    Watch->fail(state.watched);

  std::optional<StreamInfo> fresh;
  if (succeeded) {
    endEffect(state, arguments, thread, fresh);
  } else {
    Producers->restore(std::move(state.event));
    Streams->restore(std::move(state.stream));
  }
  if (action == Action::EndCapture && endsCapture(result))
    Streams->endCapture(state.key);

  ++Calls;
  Waits += record.waitKind != WaitKind::None;
  Resolved += record.wait.state == WaitState::Resolved;
  openSinks();
  for (auto &sink : Sinks) {
    if (fresh)
      sink->stream(*fresh);
    sink->call(record);
  }
  dropErrors();
}

Producer Tracer::producerOf(const CallRecord &record) const {
  Producer producer;
  producer.clock = record.clock;
  producer.correlation = record.correlation;
  producer.capture = record.capture;
  producer.thread = record.thread;
  producer.begin = record.begin;
  producer.end = record.end;
  return producer;
}

void Tracer::recordEvent(CallState &state, Event event, const streams::Clock &knows) {
  CallRecord &record = state.record;
  Producer producer = producerOf(record);
  producer.knows = knows;
  if (record.capture)
    Producers->recordCaptured(event, producer);
  else
    record.generation = Producers->record(event, producer);
}

void Tracer::endEffect(CallState &state, const CallArguments &arguments, ThreadState &thread,
                       std::optional<StreamInfo> &fresh) {
  CallRecord &record = state.record;
  const Action action = infoOf(record.id).action;
  // Before what may throw: HIP has the command.
  if (isCommand(action) && !record.capture)
    Streams->setLast(state.key, producerOf(record));
  switch (action) {
  case Action::StreamCreate:
    if (arguments.newStream) {
      const bool hasFlags =
          record.id == CallId::hipStreamCreateWithFlags || record.id == CallId::hipStreamCreateWithPriority;
      const bool nonBlocking = hasFlags && (arguments.numbers[0] & kStreamNonBlocking);
      fresh = Streams->create(*arguments.newStream, thread.device, !nonBlocking);
      if (Watch)
        Watch->stream(*fresh, state.watched.calls);
      record.clock.stream = fresh->id;
    }
    break;
  case Action::EventCreate:
    if (arguments.newEvent)
      record.event = Producers->create(*arguments.newEvent);
    break;
  case Action::OpenEvent:
    if (arguments.newEvent)
      record.event = Producers->open(*arguments.newEvent);
    break;
  case Action::ShareEvent:
    Producers->share(arguments.events[0]);
    break;
  case Action::EventRecord:
    if (record.capture && record.id == CallId::hipEventRecordWithFlags && arguments.numbers[0] == kEventRecordExternal)
      Producers->addToGraph(arguments.events[0]);
    else
      recordEvent(state, arguments.events[0], state.watched.after);
    break;
  case Action::LaunchWithEvents:
    for (int i = 0; i < arguments.eventCount; ++i)
      recordEvent(state, arguments.events[i], i == 0 ? beforeLaunch(state.watched) : state.watched.after);
    break;
  case Action::GraphRecord:
    Producers->addToGraph(arguments.events[0]);
    break;
  case Action::StreamWaitEvent:
    if (record.wait.state == WaitState::Captured)
      Streams->joinCapture(state.key, record.wait.producer.capture);
    break;
  case Action::WriteValue:
    if (!record.capture) {
      Producer producer = producerOf(record);
      producer.knows = state.watched.after;
      Values->write(arguments.pointer, arguments.numbers[0], producer);
    }
    break;
  case Action::BeginCapture:
    Streams->beginCapture(state.key);
    break;
  case Action::SetDevice:
    thread.device = int(arguments.numbers[0]);
    break;
  case Action::ChangeContext:
    thread.device = kUnknownDevice;
    break;
  case Action::DeviceReset: // the handles mean nothing any more
    Producers->clearAll();
    Streams->clearAll();
    Values->clearAll();
    break;
  default:
    break;
  }
  // An event from before this trace is numbered when it is first recorded, which may be this call.
  if (arguments.eventCount && !record.event && action != Action::EventDestroy)
    record.event = Producers->numberOf(arguments.events[0]);
}

void Tracer::emit(const StreamInfo &stream) {
  std::lock_guard lock(SinkMutex);
  if (!active())
    return;
  openSinks();
  for (auto &sink : Sinks)
    sink->stream(stream);
}

void Tracer::openSinks() {
  if (Opened)
    return;
  Opened = true;
  if (Factory)
    Sinks = Factory();
  dropErrors();
}

void Tracer::dropErrors() {
  std::erase_if(Sinks, [&](auto &sink) {
    const std::string error = sink->takeError();
    if (!error.empty() && Say)
      Say("error: " + error);
    return !error.empty();
  });
}

} // namespace wavesan::hip
