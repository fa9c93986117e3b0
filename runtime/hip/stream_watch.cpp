// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stream_watch.h"

#include <algorithm>
#include <exception>
#include <string_view>

#include <unistd.h>

namespace wavesan::hip {

namespace {

using streams::Clock;

/// The launch that the thread is inside of; 0: none.
__attribute__((tls_model("initial-exec"))) thread_local streams::CommandChecker::Ticket launchOfThread = 0;

/// Has dispatches of the program's kernels.
bool isLaunch(const CallRecord &record) {
  const CallInfo &info = infoOf(record.id);
  return (info.category == Category::Launch || info.category == Category::Graph) &&
         (info.action == Action::Command || info.action == Action::LaunchWithEvents);
}

/// By documentation: "performs an implicit hipDeviceSynchronize()".
bool freesSynchronously(CallId id) {
  return id == CallId::hipFree || id == CallId::hipHostFree || id == CallId::hipFreeHost;
}

bool waitsForDevice(const CallRecord &record, const CallArguments &arguments) {
  const Action action = infoOf(record.id).action;
  return action == Action::DeviceSynchronize || action == Action::DeviceReset ||
         (freesSynchronously(record.id) && arguments.pointers[0]);
}

bool waitsForStream(Action action) { return action == Action::StreamSynchronize || action == Action::StreamQuery; }

/// What it waits for, or what it does to memory, is not in its arguments as they are read here.
bool hasUnknownOrder(CallId id) {
  return id == CallId::hipWaitExternalSemaphoresAsync || id == CallId::hipStreamBatchMemOp;
}

bool isKnown(WaitState state) {
  switch (state) {
  case WaitState::NoDependency:
  case WaitState::NeverRecorded:
  case WaitState::Captured:
  case WaitState::Resolved:
    return true;
  default:
    return false;
  }
}

streams::StreamType typeOf(const StreamInfo &info) {
  switch (info.kind) {
  case StreamKind::LegacyDefault:
    return streams::StreamType::LegacyDefault;
  case StreamKind::PerThreadDefault:
    return streams::StreamType::Blocking;
  case StreamKind::Created:
    return info.blocking ? streams::StreamType::Blocking : streams::StreamType::NonBlocking;
  case StreamKind::BeforeAttach:
    break;
  }
  return streams::StreamType::Unknown;
}

abi::CallChain chainOf(const streams::Calls &calls) {
  return calls ? abi::CallChain{calls->data(), calls->size()} : abi::CallChain{nullptr, 0};
}

/// `node`: kNoNode, or of a graph.
abi::StreamCommand commandOf(const streams::FoundRace::Side &side, streams::NodeIndex nodeIndex) {
  const streams::Command &command = *side.part->command;
  abi::StreamCommand out{};
  out.kind = command.kind;
  out.bits = side.bits;
  out.blocking = command.stream.type != streams::StreamType::NonBlocking;
  out.defaultStream = command.stream.type == streams::StreamType::LegacyDefault;
  out.perThreadStream = command.stream.perThread;
  out.site = side.site;
  out.kernel = side.part->kernel;
  out.dispatch = side.part->dispatch;
  out.function = command.function;
  out.stream = command.order.at.stream;
  out.call = chainOf(command.call);
  out.access = chainOf(side.part->access);
  out.streamMade = chainOf(command.stream.made);
  if (nodeIndex != streams::kNoNode) {
    const streams::GraphOrder::Node &node = command.graph->node(nodeIndex);
    out.kind = node.kind;
    out.function = node.function;
    out.call = chainOf(node.call);
    out.node = node.number;
  }
  return out;
}

RaceMark::Side markOf(const streams::FoundRace::Side &side) {
  const streams::Command &command = *side.part->command;
  return {command.correlation, command.function, command.order.at.stream, command.thread, command.begin};
}

bool sameShape(const abi::DispatchShapeSeen &launch, const abi::DispatchShapeSeen &packet) {
  return launch.workgroup[0] == 0 || packet.workgroup[0] == 0 ||
         (std::equal(launch.grid, launch.grid + 3, packet.grid) &&
          std::equal(launch.workgroup, launch.workgroup + 3, packet.workgroup));
}

} // namespace

void StreamWatch::afterForkInChild() noexcept {
  try {
    Checker.reset(); // first: it may be large
    Order = {};
    Streams.clear();
    Memory = {};
    Host = {};
    Graphs.forgetGraphs();
    Known = KnownAccesses(HistoryBytes / 4);
    Recorder.reset(); // regions and files are the parent's
    GraphFiles.reset();
    Tool = {};
    Attached = false;
    reset();
    noteBusy();
  } catch (...) {
    std::terminate(); // no memory for an empty history
  }
  Mutex.unlock();
}

void StreamWatch::reset() { Checker = std::make_unique<streams::CommandChecker>(HistoryBytes); }

void StreamWatch::stream(const StreamInfo &info, streams::Calls made) noexcept try {
  std::lock_guard lock(Mutex);
  Order.addStream(info.id, typeOf(info), info.device);
  Streams[info.id] = {typeOf(info), info.kind == StreamKind::PerThreadDefault, std::move(made)};
} catch (...) {
  ++Failures;
}

void StreamWatch::begin(WatchedCall &call, const CallRecord &record, const CallArguments &arguments) noexcept try {
  const Action action = infoOf(record.id).action;
  const bool launch = isLaunch(record) && !record.capture;
  if (Attached && (isCommand(action) || action == Action::StreamCreate || GraphModels::concerns(record.id)))
    call.calls = callsToHere();
  const bool hostFunction =
      infoOf(record.id).category == Category::HostFunction && !record.capture && arguments.pointers[0];
  if (!launch && !hostFunction && !waitsForStream(action) && !waitsForDevice(record, arguments))
    return;
  std::lock_guard lock(Mutex);
  if (hostFunction) {
    if (!Attached)
      return;
    // HIP may call it, and it may wake others, before HIP's call returns.
    flushHost();
    auto host = std::make_shared<HostCall>();
    host->watch = this;
    host->function = const_cast<void *>(arguments.pointers[0]);
    host->user = const_cast<void *>(arguments.pointers[1]);
    call.launch = host->ticket = Checker->beginLaunch();
    Checker->bind(host->ticket, 0);
    call.hostCall = std::move(host);
    submit(call, record, arguments);
    noteBusy();
  } else if (launch) {
    call.launch = Checker->beginLaunch();
    if (infoOf(record.id).category == Category::Graph)
      if (auto graph = Graphs.launchable(arguments.pointers[0])) {
        for (const Event event : graph->waits) {
          ResolvedWait lost;
          lost.state = WaitState::Lost;
          call.graphWaits.push_back(Resolve ? Resolve(event) : lost);
        }
        if (GraphFiles)
          GraphFiles->begin(call.launch, graph);
        call.graph = std::make_shared<LaunchMatcher>(std::move(graph));
      }
    if (Recorder && Recorder->active())
      Recorder->beginLaunch(call.launch);
    const char *kernel = call.graph ? nullptr : Graphs.kernelName(arguments.pointers[0]);
    UnderWay[call.launch] = {launchArgumentsOf(record.id, arguments).shape, kernel ? kernel : "", call.graph};
    launchOfThread = call.launch;
  } else if (waitsForStream(action)) {
    call.atEntry = Order.contentsOfStream(record.clock.stream);
  } else {
    call.atEntry = action == Action::DeviceReset ? Order.contentsOfAll() : Order.contentsOfDevice(record.device);
  }
} catch (...) {
  ++Failures;
}

void StreamWatch::fail(WatchedCall &call) noexcept {
  if (!call.launch)
    return;
  launchOfThread = 0;
  std::lock_guard lock(Mutex);
  UnderWay.erase(call.launch);
  if (call.hostCall) // it is in its stream already
    Checker->deliverHost(call.launch, {}, {});
  else
    Checker->cancel(call.launch);
  if (Recorder)
    Recorder->cancelled(call.launch);
  if (GraphFiles)
    GraphFiles->cancelled(call.launch);
}

uint32_t StreamWatch::Busy = 0;

void StreamWatch::noteBusy() {
  const bool busy = Attached && Order.inFlight();
  __atomic_store_n(&Busy, busy ? 1u : 0u, __ATOMIC_RELEASE);
  if (!busy)
    Host.forgetPlaces();
}

void StreamWatch::hostAccess(const void *address, uint64_t bytes, uint32_t bits, uint64_t from) noexcept try {
  if (bytes == 0)
    return;
  HostCall *const function = currentHostCall();
  const bool unknown = !function && calledByHip(Hip);
  std::lock_guard lock(Mutex);
  if (!Memory.contains(address) || !Order.inFlight())
    return;
  if (unknown)
    ++Checker->counts.hostFunctions;
  else
    (function ? function->accesses : Host).add(reinterpret_cast<uint64_t>(address), bytes, bits, from, callsToHere);
} catch (...) {
  ++Failures;
}

/// What the function's commands have left, the host knows from here on: the function may tell other threads at any
/// time.
void StreamWatch::hostFunctionStarts(HostCall &call) noexcept try {
  std::lock_guard lock(Mutex);
  flushHost();
  hostWaits(call.after);
  noteBusy();
} catch (...) {
  ++Failures;
}

void StreamWatch::hostFunctionEnds(HostCall &call) noexcept try {
  std::vector<streams::FoundRace> races;
  {
    std::lock_guard lock(Mutex);
    HostLost += call.accesses.lost();
    std::vector<streams::CommandChecker::HostPart> parts;
    call.accesses.take([&](const streams::Calls &calls, std::vector<streams::Range> runs) {
      parts.push_back({calls, std::move(runs)});
    });
    Checker->deliverHost(call.ticket, std::move(parts), call.accesses.places());
    races = Checker->takeRaces();
  }
  pass(std::move(races));
} catch (...) {
  ++Failures;
}

void StreamWatch::flushHost() {
  if (Host.empty())
    return;
  const std::vector<abi::SyncPlace> places = Host.places();
  Host.take([&](const streams::Calls &calls, std::vector<streams::Range> runs) {
    auto command = std::make_shared<streams::Command>();
    command->kind = abi::CommandKind::Host;
    command->onHost = true;
    command->order = {Order.lastNumber(), {0, 0}, Order.host()};
    command->call = calls;
    command->places = places;
    Checker->submit(command, std::move(runs), 0);
  });
}

void StreamWatch::hostWaits(const Clock &known) {
  Order.hostWaits(known);
  Checker->hostWaited(Order.floor(), Order.host());
}

void StreamWatch::end(WatchedCall &call, const CallRecord &record, const CallArguments &arguments) noexcept try {
  launchOfThread = 0;
  const Action action = infoOf(record.id).action;
  std::lock_guard lock(Mutex);
  UnderWay.erase(call.launch);
  flushHost();
  followGraphs(call, record, arguments);
  if (record.capture) { // a node of a graph: executed by launches of the graph
    if (call.launch)
      Checker->cancel(call.launch);
    if (Recorder && Recorder->active())
      Recorder->skip("calls that became part of the program's own stream captures");
    return;
  }
  if (Recorder && Recorder->active() && infoOf(record.id).category == Category::Launch && action == Action::None &&
      record.id != CallId::hipModuleGetFunction)
    Recorder->skip(std::string(infoOf(record.id).name) + ", whose stream is not among its arguments");
  waits(record);
  if (isCommand(action) && !call.hostCall) // a wait is one, too; a host function has been submitted
    submit(call, record, arguments);
  if ((waitsForStream(action) && record.waitKind != WaitKind::None) || waitsForDevice(record, arguments))
    hostWaits(call.atEntry);
  if (action == Action::StreamDestroy)
    Order.endStream(record.clock.stream);
  stored(record, arguments);
  noteBusy();
} catch (...) {
  ++Failures;
}

void StreamWatch::addKernelName(const void *function, const char *name) noexcept try {
  std::lock_guard lock(Mutex);
  Graphs.addKernelName(function, name);
} catch (...) {
  ++Failures;
}

std::atomic<bool> StreamWatch::Keep{false};

std::shared_ptr<const TouchedByLaunch> StreamWatch::accessesOf(const void *node, const void *exec) noexcept try {
  std::lock_guard lock(Mutex);
  const KernelLaunch *launch = Graphs.launchOf(node, exec);
  return launch ? Known.find(KnownAccesses::keyOf(*launch)) : nullptr;
} catch (...) {
  ++Failures;
  return nullptr;
}

GraphModels::Layouts StreamWatch::layouts() {
  return [this](const std::string &kernel) {
    ArgumentLayout layout;
    layout.known = Tool.arguments && Tool.arguments(
                                         Tool.self, kernel.c_str(),
                                         [](void *to, uint32_t offset, uint32_t bytes) {
                                           static_cast<ArgumentLayout *>(to)->pieces.push_back({offset, bytes});
                                         },
                                         &layout);
    return layout;
  };
}

void StreamWatch::followGraphs(const WatchedCall &call, const CallRecord &record, const CallArguments &arguments) {
  const bool joins = infoOf(record.id).action == Action::StreamWaitEvent && record.wait.state == WaitState::Captured;
  if (record.capture || joins)
    Graphs.captured(record.id, arguments, record.clock.stream, call.calls, Memory, layouts());
  else if (GraphModels::concerns(record.id))
    Graphs.call(record.id, arguments, record.clock.stream, call.calls, layouts());
}

/// What the call learns through an event or a value; a whole stream or device: call.atEntry.
void StreamWatch::waits(const CallRecord &record) {
  const bool inStream = record.waitKind == WaitKind::StreamForEvent || record.waitKind == WaitKind::StreamForValue;
  if (!inStream && record.waitKind != WaitKind::HostForEvent)
    return;
  const bool resolved = record.wait.state == WaitState::Resolved;
  if (inStream)
    streamWaits(record.clock.stream, record.wait);
  else if (resolved && record.wait.producer.knows)
    hostWaits(record.wait.producer.knows);
  else if (resolved || !isKnown(record.wait.state))
    Order.hostWaitsForUnknown();
}

void StreamWatch::streamWaits(StreamId stream, const ResolvedWait &wait) {
  const bool resolved = wait.state == WaitState::Resolved;
  if (resolved && wait.producer.knows)
    Order.streamWaits(stream, wait.producer.knows);
  else if (resolved || !isKnown(wait.state))
    Order.streamWaitsForUnknown(stream);
}

void StreamWatch::addBlock(const streams::Range &block) {
  if (block.begin == block.end)
    return;
  Memory.add(reinterpret_cast<const void *>(block.begin), block.end - block.begin);
  Checker->newMemory(block.begin, block.end);
}

/// Allocations and frees.
void StreamWatch::stored(const CallRecord &record, const CallArguments &arguments) {
  if (record.id == CallId::hipMemMap && record.result == kHipSuccess && Tool.untracked)
    Tool.untracked(Tool.self);
  const CallInfo &info = infoOf(record.id);
  if (info.category == Category::Allocate && info.action == Action::None) {
    addBlock(allocatedBy(record.id, arguments));
  } else if (record.id == CallId::hipHostRegister) {
    Memory.add(arguments.pointers[0], arguments.numbers[0]);
  } else if (record.id == CallId::hipHostUnregister ||
             (info.category == Category::Free && info.action == Action::None)) {
    Memory.take(arguments.pointers[0]);
  } else if (info.action == Action::DeviceReset) {
    Memory.clear();
  }
}

void StreamWatch::submit(WatchedCall &call, const CallRecord &record, const CallArguments &arguments) {
  const CallInfo &info = infoOf(record.id);
  const StreamId stream = record.clock.stream;
  if (hasUnknownOrder(record.id) || stream == 0)
    Order.streamWaitsForUnknown(stream);
  for (const ResolvedWait &wait : call.graphWaits)
    streamWaits(stream, wait);
  auto command = std::make_shared<streams::Command>();
  command->order = Order.submit(stream);
  command->function = info.name;
  command->call = call.calls;
  command->correlation = record.correlation;
  command->begin = record.begin;
  command->thread = record.thread;
  if (auto found = Streams.find(stream); found != Streams.end())
    command->stream = found->second;
  call.before = command->order.before;
  const bool recordsEvent = info.action == Action::EventRecord || info.action == Action::LaunchWithEvents;
  CommandRanges ranges;
  bool submits = true, hostWaitsForIt = false;
  switch (info.category) {
  case Category::Launch:
    command->kind = abi::CommandKind::Kernel;
    break;
  case Category::Graph:
    command->kind = abi::CommandKind::Graph;
    command->graphExec = arguments.pointers[0];
    if (const LaunchableGraph *graph = call.graph ? &call.graph->graph() : nullptr) {
      hostWaitsForIt = graph->hostNodes; // as host functions in streams
      command->graph = graph->order;
      ranges.ranges = graph->ranges;
      Checker->counts.rangesUnknown += !graph->rangesComplete;
      submits = !graph->order || graph->kernelNodes != 0 || !graph->ranges.empty();
    }
    Checker->counts.graphCopies += !command->graph || !call.graph->complete();
    break;
  case Category::Copy:
  case Category::Set:
    command->kind = info.category == Category::Copy ? abi::CommandKind::Copy : abi::CommandKind::Set;
    ranges = rangesOf(record.id, arguments, Memory);
    hostWaitsForIt = isSynchronous(record.id) || ranges.pageable;
    Checker->counts.rangesUnknown += !ranges.complete;
    submits = !ranges.ranges.empty();
    break;
  case Category::Allocate:
  case Category::Free: {
    const bool free = info.category == Category::Free;
    command->kind = free ? abi::CommandKind::Free : abi::CommandKind::Allocation;
    streams::Range block = allocatedBy(record.id, arguments);
    if (free) {
      block.begin = reinterpret_cast<uint64_t>(arguments.pointers[0]);
      block.end = block.begin + Memory.take(arguments.pointers[0]);
    } else {
      addBlock(block);
    }
    submits = block.begin != block.end;
    Checker->counts.rangesUnknown += !submits && free;
    ranges.ranges = {{block.begin, block.end, abi::kAccessWrite}};
    break;
  }
  case Category::HostFunction: // by the time it runs the host knows, and whoever it wakes
    command->kind = abi::CommandKind::HostFunction;
    submits = call.hostCall != nullptr;
    if (submits)
      call.hostCall->after = streams::StreamOrder::after(command->order);
    hostWaitsForIt = !submits;
    break;
  default:
    submits = false;
  }
  if (!Memory.aliases.empty())
    ranges.ranges = Memory.aliases.byHost(ranges.ranges.data(), ranges.ranges.size());
  if (Recorder && Recorder->active())
    addToRegion(call, record, arguments, *command, ranges);
  else if (Recorder && call.launch) // its region has ended meanwhile
    Recorder->cancelled(call.launch);
  if (recordsEvent || hostWaitsForIt || info.action == Action::WriteValue)
    call.after = streams::StreamOrder::after(command->order);
  if (recordsEvent)
    Checker->recorded(command->order, record.event, call.calls);
  if (submits)
    Checker->submit(command, std::move(ranges.ranges), call.launch);
  else if (call.launch)
    Checker->cancel(call.launch);
  if (hostWaitsForIt)
    hostWaits(call.after);
}

void StreamWatch::alias(const void *host, const void *device, uint64_t bytes) noexcept try {
  std::lock_guard lock(Mutex);
  if (bytes)
    Memory.aliases.add(reinterpret_cast<uint64_t>(host), reinterpret_cast<uint64_t>(device), bytes);
  else
    Memory.aliases.remove(reinterpret_cast<uint64_t>(host));
} catch (...) {
  ++Failures;
}

void StreamWatch::report() noexcept try {
  std::vector<streams::FoundRace> races; // also where nobody wants them: what is compared is forgotten
  std::vector<RecordedRegion> regions;
  {
    std::lock_guard lock(Mutex);
    races = Checker->takeRaces();
    if (Recorder)
      regions = Recorder->take();
  }
  for (RecordedRegion &region : regions)
    RegionOut(std::move(region));
  pass(std::move(races));
} catch (...) {
  ++Failures;
}

void StreamWatch::pass(std::vector<streams::FoundRace> races) noexcept {
  for (const streams::FoundRace &race : races) {
    abi::StreamRace out{};
    out.current = commandOf(race.current, race.currentNode);
    out.previous = commandOf(race.previous, race.previousNode);
    if (race.currentNode != streams::kNoNode)
      out.graphLaunch = chainOf(race.current.part->command->call);
    out.address = race.address;
    out.bytes = race.bytes;
    const void *const graph = race.current.part->command->graphExec;
    out.sameGraph = graph && graph == race.previous.part->command->graphExec && race.currentNode == streams::kNoNode;
    out.generation = std::max(out.current.dispatch, out.previous.dispatch);
    out.lateEvent = race.late.event;
    out.lateRecord = chainOf(race.late.call);
    out.earlyEvent = race.early.event;
    out.earlyRecord = chainOf(race.early.call);
    try {
      if (Mark)
        Mark({markOf(race.current), markOf(race.previous)});
    } catch (...) {
      ++Failures;
    }
    if (Tool.race)
      Tool.race(Tool.self, &out);
  }
}

void StreamWatch::attach(const abi::StreamCheckTool *tool) {
  std::lock_guard lock(Mutex);
  Tool = tool ? *tool : abi::StreamCheckTool{};
  Attached = tool != nullptr;
}

uint64_t StreamWatch::bind(const abi::DispatchShapeSeen &shape, const char *name, const void *kernarg, uint64_t,
                           uint64_t dispatch) noexcept try {
  std::lock_guard lock(Mutex);
  const auto fits = [&](const LaunchUnderWay &l) {
    return l.graph ? l.graph->mayHave(shape, name, kernarg)
                   : sameShape(l.shape, shape) && (l.kernel.empty() || !name || l.kernel == name);
  };
  auto found = UnderWay.find(launchOfThread);
  if (found == UnderWay.end() || !fits(found->second)) {
    // Streams share queues of the hardware, where a thread submits what another one has just put there.
    const auto other = std::find_if(UnderWay.begin(), UnderWay.end(), [&](const auto &l) { return fits(l.second); });
    const bool alone = other != UnderWay.end() && std::none_of(std::next(other), UnderWay.end(),
                                                               [&](const auto &l) { return fits(l.second); });
    if (alone)
      found = other;
    else if (found != UnderWay.end() && !found->second.graph)
      found = UnderWay.end();
  }
  if (found == UnderWay.end()) {
    ++Checker->counts.unbound;
    return 0;
  }
  const auto ticket = found->first;
  LaunchMatcher *const graph = found->second.graph.get();
  if (Recorder)
    Recorder->bound(ticket);
  if (Keep && name && kernarg) {
    const KernelLaunch launch = KernelLaunch::seen(shape, name, kernarg, layouts());
    Known.bound(ticket, dispatch, KnownAccesses::keyOf(launch));
  }
  std::vector<streams::NodeIndex> nodes;
  if (graph)
    nodes = graph->match(shape, name, kernarg);
  if (GraphFiles && graph)
    GraphFiles->bound(ticket, dispatch, nodes, name, shape);
  Checker->bind(ticket, dispatch, std::move(nodes));
  return ticket;
} catch (...) {
  ++Failures;
  return 0;
}

void StreamWatch::deliver(uint64_t ticket, uint64_t kernel, uint64_t dispatch,
                          const abi::DispatchAccesses *accesses) noexcept try {
  {
    std::lock_guard lock(Mutex);
    std::vector<abi::AccessRun> runs;
    std::vector<abi::SyncPlace> places;
    abi::DispatchAccesses byHost{};
    const abi::DispatchAccesses *compared = accesses;
    if (accesses && !Memory.aliases.empty()) {
      runs = Memory.aliases.byHost(accesses->runs, accesses->runCount);
      places.assign(accesses->places, accesses->places + accesses->placeCount);
      for (abi::SyncPlace &place : places)
        place.address = Memory.aliases.hostAddress(place.address);
      byHost = {runs.data(), runs.size(), places.data(), places.size(), accesses->lost};
      compared = &byHost;
    }
    Checker->deliver(ticket, kernel, dispatch, compared);
    if (Recorder)
      Recorder->delivered(ticket, compared);
    // Capsules have memory at the addresses that the kernel knows.
    Known.delivered(ticket, dispatch, accesses);
    if (GraphFiles)
      GraphFiles->delivered(ticket, dispatch, accesses);
  }
  report();
} catch (...) {
  ++Failures;
}

void StreamWatch::finish(abi::StreamCheckCounts &counts) noexcept try {
  std::vector<streams::FoundRace> races;
  {
    std::lock_guard lock(Mutex);
    flushHost();
    races = Checker->finish();
  }
  pass(std::move(races));
  finishRegions();
  std::vector<std::string> lines;
  if (GraphFiles) {
    std::lock_guard lock(Mutex);
    lines = GraphFiles->finish(uint64_t(getpid()));
  }
  for (const std::string &line : lines)
    Say(line);
  std::lock_guard lock(Mutex);
  counts = Checker->counts;
  counts.lost += Failures + Host.lost() + HostLost;
} catch (...) {
  ++Failures;
}

} // namespace wavesan::hip
