// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay_packet.h"

#include "packet_rewriter.h"
#include "tool.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

namespace wavesan::hsa {

namespace {

/// What the option leaves open: a quarter of the memory that the host has to spare.
uint64_t quarterOfAvailable() {
  std::ifstream info("/proc/meminfo");
  std::string word;
  while (info >> word)
    if (uint64_t kilobytes = 0; word == "MemAvailable:" && info >> kilobytes)
      return kilobytes * 1024 / 4;
  return 1ull << 30;
}

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

} // namespace

PacketHost::PacketHost(Tool &tool, QueueState &queue, const std::shared_ptr<const Kernel> &kernel,
                       const hsa_kernel_dispatch_packet_t &packet, uint64_t dispatch, const PacketWriter &write)
    : T(tool), Queue(queue), TheKernel(kernel), Packet(packet), Dispatch(dispatch), Write(write),
      Window(tool.windows.of(queue.agent)), Memory(tool.api, tool.memory) {}

PacketHost::~PacketHost() {
  if (Signal.handle)
    T.api.core.hsa_signal_destroy_fn(Signal);
}

const char *PacketHost::open(MemoryStep &predicted) {
  if (Queue.cooperative)
    return kDeclineCooperative;
  if (TheKernel->mayCallHost)
    return kDeclineHostCall;
  if (T.memory.hasUntracked())
    return kDeclineUntracked;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(T.options.replay_drain_seconds);
  Lock = Window.take(until);
  if (!Lock)
    return kDeclineAgentDrain;
  if (!drainOwn(until))
    return kDeclineQueueDrain;
  if (!Window.waitOthers(T.api, &Queue.fences, until))
    return kDeclineAgentDrain;
  // The drain thread completes checked dispatches behind the device.
  T.drain.waitIdle(0, std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()));
  const TwinInfo *twin = Everything ? nullptr : TheKernel->twin;
  predicted = Memory.plan(twin && twin->stores ? &*twin->stores : nullptr, Packet.kernarg_address,
                          twin ? twin->original.kernargBytes : 0);
  return predicted.bytes > budget() ? kDeclineBudget : nullptr;
}

uint64_t snapshotBudget(const Tool &tool) {
  return tool.options.replay_budget_mb ? tool.options.replay_budget_mb << 20 : quarterOfAvailable();
}

const char *PacketHost::save(MemoryStep &taken) {
  std::string error;
  if (T.api.core.hsa_signal_create_fn(1, 0, nullptr, &Signal) != HSA_STATUS_SUCCESS)
    error = "no signal";
  if (error.empty() && Memory.save(taken, error))
    return nullptr;
  T.findings.message("kernel replay: no snapshot for " + TheKernel->display + ": " + error);
  return kDeclineSnapshot;
}

PassResult PacketHost::pass(uint64_t number, uint32_t contexts) {
  hsa_kernel_dispatch_packet_t copy = Packet;
  copy.completion_signal = Signal;
  copy.header |= 1 << HSA_PACKET_HEADER_BARRIER | HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  T.api.core.hsa_signal_store_screlease_fn(Signal, 1);
  PassResult result;
  std::optional<ScheduleSet> schedule;
  const bool perturbs = T.cpuAgent && contexts >> WAVESAN_CONTEXT_SCHEDULE_PERTURBATION & 1;
  if (perturbs) {
    result.seed = T.options.seed + number;
    schedule.emplace(*T.cpuAgent, abi::Schedule{result.seed, false, false, {}, {}});
  }
  Trace.reset();
  if (T.cpuAgent && contexts >> WAVESAN_CONTEXT_ACCESS_TRACE & 1)
    Trace = std::make_unique<AccessTrace>();
  alignas(64) uint8_t packets[2][64];
  hsa_barrier_and_packet_t behind;
  const bool checks = contexts >> WAVESAN_CONTEXT_RACE_CHECK & 1;
  const bool twin = checks && rewritePacket(T, Queue, copy, behind, Dispatch, {number == 0, Quiet, Trace.get()});
  std::memcpy(packets[0], &copy, sizeof(copy));
  if (twin)
    std::memcpy(packets[1], &behind, sizeof(behind));
  Write(packets, twin ? 2 : 1);
  const auto begin = std::chrono::steady_clock::now();
  const uint64_t step = PassLimit.count() ? kWaitNanoseconds : UINT64_MAX;
  while ((LastValue = T.api.core.hsa_signal_wait_scacquire_fn(Signal, HSA_SIGNAL_CONDITION_LT, 1, step,
                                                              HSA_WAIT_STATE_BLOCKED)) >= 1) {
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (PassLimit.count() && waited >= PassLimit) {
      handOver();
      return result;
    }
    if (PassLimit.count() && waited >= kPatience && !SaidThatItWaits) {
      SaidThatItWaits = true;
      T.findings.message("dispatch " + std::to_string(Dispatch) + ", " + TheKernel->display +
                         ", is still running, and with --capsule or --confirm the program waits for it: for " +
                         std::to_string(std::chrono::duration_cast<std::chrono::seconds>(PassLimit).count()) +
                         " s at most (option replay_drain_seconds), in case it waits for the program");
    }
  }
  schedule.reset();
  result.contexts = uint32_t(twin) << WAVESAN_CONTEXT_RACE_CHECK | uint32_t(perturbs)
                                                                       << WAVESAN_CONTEXT_SCHEDULE_PERTURBATION;
  if (Trace && twin && Trace->complete()) {
    const std::vector<wavesan_access_t> &accesses = Trace->accesses(*TheKernel);
    result.accesses = accesses.data(), result.accessCount = accesses.size(), result.accessesLost = Trace->lost();
    result.contexts |= 1u << WAVESAN_CONTEXT_ACCESS_TRACE;
  }
  if (contexts >> WAVESAN_CONTEXT_DISPATCH_TIMING & 1)
    takeTimes(result);
  if (contexts >> WAVESAN_CONTEXT_OUTPUT_DIGEST & 1) {
    std::string error;
    result.digest = Memory.digest(error);
    result.contexts |= uint32_t(error.empty()) << WAVESAN_CONTEXT_OUTPUT_DIGEST;
    if (!error.empty())
      T.findings.error("kernel replay: no digest: " + error);
  }
  return result;
}

MemoryStep PacketHost::restore() {
  MemoryStep step;
  std::string error;
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

void PacketHost::completeForProgram() { complete(T.api, Packet.completion_signal, Signal, LastValue); }

void PacketHost::handOver() {
  Overdue = true;
  Lock = {};
  auto late = std::make_unique<LateCompletion>(LateCompletion{&T.api, Signal, Packet.completion_signal});
  Signal = {}; // stays until the process ends
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
    return;
  }
  // Without a handler somebody must wait.
  LastValue = T.api.core.hsa_signal_wait_scacquire_fn(late->own, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                                      HSA_WAIT_STATE_BLOCKED);
  complete(T.api, late->program, late->own, LastValue);
}

/// What this queue got in the same call is not behind a fence yet.
bool PacketHost::drainOwn(std::chrono::steady_clock::time_point until) {
  alignas(64) hsa_barrier_and_packet_t fence;
  if (!Queue.fences.next(T.api, fence))
    return false;
  Write(&fence, 1);
  return Queue.fences.wait(T.api, until);
}

void PacketHost::takeTimes(PassResult &result) {
  hsa_amd_profiling_dispatch_time_t time{};
  uint64_t frequency = 0;
  if (!T.api.amd.hsa_amd_profiling_get_dispatch_time_fn ||
      T.api.amd.hsa_amd_profiling_get_dispatch_time_fn(Queue.agent, Signal, &time) != HSA_STATUS_SUCCESS ||
      T.api.core.hsa_system_get_info_fn(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency) != HSA_STATUS_SUCCESS ||
      frequency == 0)
    return;
  auto nanoseconds = [&](uint64_t ticks) { return uint64_t(double(ticks) * 1e9 / double(frequency)); };
  result.startNs = nanoseconds(time.start);
  result.endNs = nanoseconds(time.end);
  result.contexts |= 1u << WAVESAN_CONTEXT_DISPATCH_TIMING;
}

} // namespace wavesan::hsa
