// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay_packet.h"

#include "packet_rewriter.h"
#include "shadow_plan.h"
#include "tool.h"

#include "wavesan/abi/option_units.h"

#include <cstdlib>
#include <cstring>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

namespace wavesan::hsa {

namespace {

/// Upper bound of one wait: how late a time limit is noticed.
constexpr uint64_t kWaitNanoseconds = 20'000'000;

/// The program's thread waits this long without a word.
constexpr std::chrono::seconds kPatience{2};

/// A dispatch that took too long for its window.
struct LateCompletion {
  const Api *api;
  hsa_signal_t own, program;
};

/// The program sees the end of a dispatch that had a signal of the tool's own.
void complete(const Api &api, hsa_signal_t program, hsa_signal_t own, hsa_signal_value_t value) {
  if (!program.handle)
    return;
  const auto *from = reinterpret_cast<const amd_signal_t *>(own.handle);
  auto *to = reinterpret_cast<amd_signal_t *>(program.handle);
  to->start_ts = from->start_ts;
  to->end_ts = from->end_ts;
  if (value < 0)
    api.core.hsa_signal_store_screlease_fn(program, value);
  else
    api.core.hsa_signal_subtract_screlease_fn(program, 1);
}

/// Something lies there in the process.
bool isMapped(uint64_t address) {
  const uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
  unsigned char resident;
  return mincore(reinterpret_cast<void *>(address / page * page), 1, &resident) == 0;
}

/// `unknown`: what holds where the runtime does not say.
bool isOfHost(const Tool &tool, const MemoryMap::LiveRange &range, bool unknown = false) {
  if (range.kind != MemoryMap::Kind::Allocation)
    return range.kind == MemoryMap::Kind::RegisteredHost;
  hsa_amd_pointer_info_t info{};
  info.size = sizeof(info);
  hsa_device_type_t type{};
  if (!tool.api.amd.hsa_amd_pointer_info_fn ||
      tool.api.amd.hsa_amd_pointer_info_fn(reinterpret_cast<void *>(range.begin), &info, nullptr, nullptr, nullptr) !=
          HSA_STATUS_SUCCESS ||
      info.type == HSA_EXT_POINTER_TYPE_UNKNOWN ||
      tool.api.core.hsa_agent_get_info_fn(info.agentOwner, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS)
    return unknown;
  return type == HSA_DEVICE_TYPE_CPU;
}

} // namespace

Snapshot snapshotOn(Tool &tool, hsa_agent_t agent) {
  std::string error; // without the agent there are two tiers less
  // HIP's own host memory: other threads put kernel arguments and what is to be copied there, before they come to the
  // window.
  return Snapshot(tool.api, tool.memory, tool.tiers, snapshotDirectory(tool.options),
                  agent.handle ? tool.agents.find(agent, error) : nullptr, [&tool](const MemoryMap::LiveRange &range) {
                    return tool.streams.isOfHip(range.host, range.bytes) && isOfHost(tool, range);
                  });
}

PacketHost::Kept::Kept(PacketHost &host) : Host(host), After(snapshotOn(host.T, host.Queue.agent)) {
  MemoryStep step = After.plan(host.Memory);
  std::string error;
  Why = step.fits ? After.save(step, error) : kDeclineBudget;
}

void PacketHost::Kept::putBack() {
  MemoryStep step;
  std::string error;
  // What the first pass had not written may have been written since.
  if (!Host.Memory.restore(step, error, &After) || !After.restore(step, error))
    Host.restoreFailed(error);
}

PacketHost::PacketHost(Tool &tool, QueueState &queue, const std::vector<QueuedDispatch> &dispatches,
                       const PacketWriter &write)
    : T(tool), Queue(queue), Dispatches(dispatches), Write(write), Window(tool.windows.of(queue.agent)),
      Memory(snapshotOn(tool, queue.agent)) {}

PacketHost::~PacketHost() {
  for (const Completion &completion : Completions)
    if (completion.signal.handle)
      T.api.core.hsa_signal_destroy_fn(completion.signal);
}

std::string PacketHost::name() const {
  if (Dispatches.size() > 1)
    return "a range of " + std::to_string(Dispatches.size()) + " dispatches";
  return Dispatches[0].kernel ? Dispatches[0].kernel->display : "a kernel of unknown name";
}

bool PacketHost::keepsResidency(const QueuedDispatch &dispatch) const {
  std::string error;
  const std::shared_ptr<const AgentInfo> agent = T.agents.find(Queue.agent, error);
  if (!agent)
    return false;
  if (!dispatch.kernel || !dispatch.kernel->twin || !dispatch.kernel->problem.empty() || dispatch.kernel->filtered)
    return true; // it is the original that runs
  const ShadowRequest request = shadowRequest(Queue, *dispatch.kernel, *agent, dispatch.packet);
  const ShadowPlan plan = planShadow(request);
  if (!plan.problem.empty())
    return true;
  return allResident(request, plan, /*registersKnown=*/T.cpuAgent != nullptr);
}

/// What is known of the dispatches alone.
const char *PacketHost::whyNot() const {
  for (const QueuedDispatch &dispatch : Dispatches)
    if (dispatch.kernel && dispatch.kernel->mayCallHost)
      return kDeclineHostCall;
  for (const QueuedDispatch &dispatch : Dispatches)
    if (dispatch.kernel && dispatch.kernel->waitsForHost() && !Everything) // a capsule takes one pass
      return kDeclineHostCall;
  if (Queue.cooperative)
    for (const QueuedDispatch &dispatch : Dispatches)
      if (!keepsResidency(dispatch))
        return kDeclineCooperative;
  return T.memory.hasUntracked() || writesUntracked() ? kDeclineUntracked : nullptr;
}

/// A store goes to memory that is there, but that no snapshot could hold. A pointer to nothing is not one: it may be
/// where an index of zero would be.
bool PacketHost::writesUntracked() const {
  const std::vector<MemoryMap::LiveRange> live = T.memory.live();
  for (const QueuedDispatch &dispatch : Dispatches) {
    const TwinInfo *twin = dispatch.kernel ? dispatch.kernel->twin : nullptr;
    if (!twin || !twin->stores)
      continue;
    for (uint64_t pointer :
         strayPointers(live, *twin->stores, static_cast<const uint8_t *>(dispatch.packet.kernarg_address),
                       twin->original.kernargBytes))
      if (isMapped(pointer) && !T.memory.knows(pointer)) // registered memory has an address of the host's, too
        return true;
  }
  return false;
}

const char *PacketHost::open(MemoryStep &predicted) {
  if (const char *why = whyNot())
    return why;
  const auto until = std::chrono::steady_clock::now() + abi::secondsOf(T.options.replay_drain_seconds);
  Lock = Window.take(until);
  if (!Lock)
    return kDeclineAgentDrain;
  if (!drainOwn(until))
    return kDeclineQueueDrain;
  if (!Window.waitOthers(T.api, &Queue.fences, until))
    return kDeclineAgentDrain;
  // The drain thread completes checked dispatches behind the device.
  if (!T.drain.waitIdle(
          0, std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now())))
    return kDeclineAgentDrain;
  std::vector<DispatchStores> stores; // none: everything
  // With hooks=device the CPU agent is to do what a GPU does.
  if (T.cpuAgent && T.options.hooks != "device")
    Memory.recordWrites(*T.cpuAgent, [this](const MemoryMap::LiveRange &range) { return isOfHost(T, range); });
  else if (T.followsCopies() && std::all_of(Dispatches.begin(), Dispatches.end(), [](const QueuedDispatch &d) {
             return d.kernel && d.kernel->twin && d.kernel->twin->notesWrites;
           }))
    Memory.noteWrites([this](const MemoryMap::LiveRange &range) { return isOfHost(T, range, /*unknown=*/true); });
  if (Everything)
    Memory.keepWhole();
  else
    for (const QueuedDispatch &dispatch : Dispatches) {
      const TwinInfo *twin = dispatch.kernel ? dispatch.kernel->twin : nullptr;
      stores.push_back({twin && twin->stores ? &*twin->stores : nullptr, dispatch.packet.kernarg_address,
                        twin ? twin->original.kernargBytes : 0});
    }
  predicted = Memory.plan(stores);
  return predicted.fits ? nullptr : kDeclineBudget;
}

const char *PacketHost::save(MemoryStep &taken) {
  std::string error;
  const char *why = nullptr;
  Completions.resize(Dispatches.size());
  for (Completion &completion : Completions)
    if (!completion.signal.handle &&
        T.api.core.hsa_signal_create_fn(1, 0, nullptr, &completion.signal) != HSA_STATUS_SUCCESS)
      why = kDeclineSnapshot, error = "no signal";
  if (!why)
    why = Memory.save(taken, error);
  if (why)
    T.findings.message("kernel replay: no snapshot for " + name() + ": " + error);
  return why;
}

/// False: it takes too long, and the program has been told that it will get the completions later.
bool PacketHost::await(std::chrono::steady_clock::time_point begin) {
  const uint64_t step = PassLimit.count() ? kWaitNanoseconds : UINT64_MAX;
  for (Completion &completion : Completions)
    while ((completion.value = T.api.core.hsa_signal_wait_scacquire_fn(completion.signal, HSA_SIGNAL_CONDITION_LT, 1,
                                                                       step, HSA_WAIT_STATE_BLOCKED)) >= 1) {
      const auto waited = std::chrono::steady_clock::now() - begin;
      if (PassLimit.count() && waited >= PassLimit) {
        handOver();
        return false;
      }
      if (PassLimit.count() && waited >= kPatience && !SaidThatItWaits) {
        SaidThatItWaits = true;
        T.findings.message("dispatch " + std::to_string(Dispatches[0].number) + ", " + name() +
                           ", is still running, and the program waits for it, because it is replayed, recorded or "
                           "confirmed: for " +
                           std::to_string(std::chrono::duration_cast<std::chrono::seconds>(PassLimit).count()) +
                           " s at most (option replay_drain_seconds), in case it waits for the program");
      }
    }
  return true;
}

PassResult PacketHost::pass(uint64_t number, uint32_t contexts) {
  PassResult result;
  std::optional<ScheduleSet> schedule;
  const bool perturbs = T.cpuAgent && contexts >> WAVESAN_CONTEXT_SCHEDULE_PERTURBATION & 1;
  if (perturbs) {
    result.seed = T.options.seed + number;
    schedule.emplace(*T.cpuAgent, abi::Schedule{.seed = result.seed});
  }
  const bool checks = contexts >> WAVESAN_CONTEXT_RACE_CHECK & 1;
  Traces.clear();
  if (T.cpuAgent && checks && contexts >> WAVESAN_CONTEXT_ACCESS_TRACE & 1)
    for (size_t i = 0; i < Dispatches.size(); ++i)
      Traces.push_back(std::make_unique<AccessTrace>());
  bool twins = false, notes = true;
  struct alignas(64) Slot {
    uint8_t bytes[64];
  };
  std::vector<Slot> packets;
  packets.reserve(2 * Dispatches.size());
  const std::shared_ptr<StreamDispatch> none;
  for (size_t i = 0; i < Dispatches.size(); ++i) {
    const QueuedDispatch &dispatch = Dispatches[i];
    hsa_kernel_dispatch_packet_t copy = dispatch.packet;
    copy.completion_signal = Completions[i].signal;
    copy.header |= (i == 0) << HSA_PACKET_HEADER_BARRIER |
                   HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                   HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    T.api.core.hsa_signal_store_screlease_fn(Completions[i].signal, 1);
    PassOptions options{.counts = number == 0,
                        .quiet = Quiet,
                        .part = Part,
                        .trace = Traces.empty() ? nullptr : Traces[i].get(),
                        .delays = Delays,
                        .touchMap = Memory.touchMap(),
                        .window = Recorded};
    if (Part)
      options.stream = &none;
    else if (dispatch.bound)
      options.stream = number == 0 ? &dispatch.stream : &none;
    hsa_barrier_and_packet_t behind;
    const bool twin = checks && rewritePacket(T, Queue, copy, behind, dispatch.number, options);
    std::memcpy(&packets.emplace_back(), &copy, sizeof(copy));
    if (twin)
      std::memcpy(&packets.emplace_back(), &behind, sizeof(behind));
    twins = twins || twin;
    notes = notes && twin;
  }
  Write(packets.data(), packets.size());
  result.ended = await(std::chrono::steady_clock::now());
  if (!result.ended)
    return result;
  Memory.passEnded(notes);
  schedule.reset();
  result.contexts = uint32_t(twins) << WAVESAN_CONTEXT_RACE_CHECK | uint32_t(perturbs)
                                                                        << WAVESAN_CONTEXT_SCHEDULE_PERTURBATION;
  if (takeAccesses(result))
    result.contexts |= 1u << WAVESAN_CONTEXT_ACCESS_TRACE;
  if (contexts >> WAVESAN_CONTEXT_DISPATCH_TIMING & 1)
    takeTimes(result);
  if (contexts >> WAVESAN_CONTEXT_OUTPUT_DIGEST & 1 && !interrupted()) { // else memory is not the pass's alone
    result.digest = digest();
    result.contexts |= uint32_t(result.digest != 0) << WAVESAN_CONTEXT_OUTPUT_DIGEST;
  }
  return result;
}

/// False: of some dispatch it is not known.
bool PacketHost::takeAccesses(PassResult &result) {
  Accesses.clear();
  AccessCounts.clear();
  if (Traces.empty() || !std::all_of(Traces.begin(), Traces.end(), [](const auto &trace) { return trace->complete(); }))
    return false;
  for (size_t i = 0; i < Traces.size(); ++i) {
    const std::vector<wavesan_access_t> &accesses = Traces[i]->accesses(*Dispatches[i].kernel);
    Accesses.insert(Accesses.end(), accesses.begin(), accesses.end());
    AccessCounts.push_back(accesses.size());
    result.accessesLost += Traces[i]->lost();
  }
  result.accesses = Accesses.data(), result.accessCount = Accesses.size();
  result.dispatchAccesses = AccessCounts.data();
  return true;
}

uint64_t PacketHost::digest() {
  std::string error;
  const uint64_t digest = Memory.digest(error);
  if (!error.empty())
    T.findings.error("kernel replay: no digest: " + error);
  return digest;
}

MemoryStep PacketHost::restore() {
  MemoryStep step;
  std::string error;
  if (workInside())
    Memory.passEnded(false); // a callback's work notes nothing
  if (!Memory.restore(step, error))
    restoreFailed(error);
  return step;
}

void endBecauseOfRestore(Tool &tool, const std::string &what, const std::string &why) {
  tool.findings.error("kernel replay: memory cannot be restored before the next pass of " + what + ": " + why +
                      "; the program is ended");
  std::abort();
}

void PacketHost::callback(bool begins) {
  if (Lock) // not before open(): the window is not ours
    begins ? Window.callbackBegins() : Window.callbackEnds();
}

bool PacketHost::interrupted() const { return Lock && Window.interrupted(); }

void PacketHost::warn(const std::string &text) { T.findings.message("warning: " + text); }

void PacketHost::completeForProgram() {
  for (size_t i = 0; i < Dispatches.size(); ++i)
    complete(T.api, Dispatches[i].packet.completion_signal, Completions[i].signal, Completions[i].value);
}

void PacketHost::handOver() {
  Overdue = true;
  Memory.abandonMap();
  alignas(64) hsa_barrier_and_packet_t fence;
  if (Queue.fences.next(T.api, fence)) // other windows are to wait for it
    Write(&fence, 1);
  Lock = {};
  for (std::unique_ptr<AccessTrace> &trace : Traces)
    (void)trace.release(); // the agent's, until the process ends
  for (size_t i = 0; i < Dispatches.size(); ++i) {
    auto late = std::make_unique<LateCompletion>(
        LateCompletion{&T.api, Completions[i].signal, Dispatches[i].packet.completion_signal});
    Completions[i].signal = {}; // stays until the process ends
    const hsa_status_t status = T.api.amd.hsa_amd_signal_async_handler_fn(
        late->own, HSA_SIGNAL_CONDITION_LT, 1,
        [](hsa_signal_value_t value, void *data) {
          std::unique_ptr<LateCompletion> done(static_cast<LateCompletion *>(data));
          complete(*done->api, done->program, done->own, value);
          return false;
        },
        late.get());
    if (status == HSA_STATUS_SUCCESS) {
      (void)late.release(); // the handler's
      continue;
    }
    // Without a handler somebody must wait.
    const hsa_signal_value_t value = T.api.core.hsa_signal_wait_scacquire_fn(late->own, HSA_SIGNAL_CONDITION_LT, 1,
                                                                             UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    complete(T.api, late->program, late->own, value);
  }
  Traces.clear();
}

/// What this queue got in the same call is not behind a fence yet.
bool PacketHost::drainOwn(std::chrono::steady_clock::time_point until) {
  alignas(64) hsa_barrier_and_packet_t fence;
  if (!Queue.fences.next(T.api, fence))
    return false;
  Write(&fence, 1);
  return Queue.fences.wait(T.api, until);
}

/// From the begin of the first dispatch to the end of the last one.
void PacketHost::takeTimes(PassResult &result) {
  uint64_t frequency = 0, start = UINT64_MAX, end = 0;
  if (!T.api.amd.hsa_amd_profiling_get_dispatch_time_fn ||
      T.api.core.hsa_system_get_info_fn(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency) != HSA_STATUS_SUCCESS ||
      frequency == 0)
    return;
  for (const Completion &completion : Completions) {
    hsa_amd_profiling_dispatch_time_t time{};
    if (T.api.amd.hsa_amd_profiling_get_dispatch_time_fn(Queue.agent, completion.signal, &time) != HSA_STATUS_SUCCESS)
      return;
    start = std::min<uint64_t>(start, time.start);
    end = std::max<uint64_t>(end, time.end);
  }
  auto nanoseconds = [&](uint64_t ticks) { return uint64_t(double(ticks) * 1e9 / double(frequency)); };
  result.startNs = nanoseconds(start);
  result.endNs = nanoseconds(end);
  result.contexts |= 1u << WAVESAN_CONTEXT_DISPATCH_TIMING;
}

} // namespace wavesan::hsa
