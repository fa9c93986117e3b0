// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay_dispatch.h"

#include "packet_rewriter.h"
#include "replay_loop.h"
#include "replay_service.h"
#include "replay_snapshot.h"
#include "tool.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sys/syscall.h>
#include <unistd.h>

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

class PacketHost : public ReplayHost {
public:
  PacketHost(Tool &tool, QueueState &queue, const std::shared_ptr<const Kernel> &kernel,
             const hsa_kernel_dispatch_packet_t &packet, uint64_t dispatch, const PacketWriter &write)
      : T(tool), Queue(queue), TheKernel(kernel), Packet(packet), Dispatch(dispatch), Write(write),
        Window(tool.windows.of(queue.agent)), Memory(tool.api, tool.memory) {}

  ~PacketHost() override {
    if (Signal.handle)
      T.api.core.hsa_signal_destroy_fn(Signal);
  }

  const char *open(MemoryStep &predicted) override {
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
    T.drain.waitIdle(0,
                     std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()));
    predicted = Memory.plan();
    const uint64_t budget = T.options.replay_budget_mb ? T.options.replay_budget_mb << 20 : quarterOfAvailable();
    return predicted.bytes > budget ? kDeclineBudget : nullptr;
  }

  const char *save(MemoryStep &taken) override {
    std::string error;
    if (T.api.core.hsa_signal_create_fn(1, 0, nullptr, &Signal) != HSA_STATUS_SUCCESS)
      error = "no signal";
    if (error.empty() && Memory.save(taken, error))
      return nullptr;
    T.findings.message("kernel replay: no snapshot for " + TheKernel->display + ": " + error);
    return kDeclineSnapshot;
  }

  PassResult pass(uint64_t number, uint32_t contexts) override {
    hsa_kernel_dispatch_packet_t copy = Packet;
    copy.completion_signal = Signal;
    copy.header |= 1 << HSA_PACKET_HEADER_BARRIER | HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                   HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    T.api.core.hsa_signal_store_screlease_fn(Signal, 1);
    PassResult result;
    alignas(64) uint8_t packets[2][64];
    hsa_barrier_and_packet_t behind;
    const bool checks = contexts >> WAVESAN_CONTEXT_RACE_CHECK & 1;
    const bool twin = checks && rewritePacket(T, Queue, copy, behind, Dispatch, number == 0);
    std::memcpy(packets[0], &copy, sizeof(copy));
    if (twin)
      std::memcpy(packets[1], &behind, sizeof(behind));
    Write(packets, twin ? 2 : 1);
    LastValue =
        T.api.core.hsa_signal_wait_scacquire_fn(Signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    const auto *stamps = reinterpret_cast<const amd_signal_t *>(Signal.handle);
    Start = stamps->start_ts, End = stamps->end_ts;
    result.contexts = uint32_t(twin) << WAVESAN_CONTEXT_RACE_CHECK;
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

  MemoryStep restore() override {
    MemoryStep step;
    std::string error;
    if (Memory.restore(step, error))
      return step;
    // What the program would compute from here on is wrong, and nothing could tell it.
    T.findings.error("kernel replay: memory cannot be restored before the next pass of " + TheKernel->display + ": " +
                     error + "; the program is ended");
    std::abort();
  }

  bool failed() const override { return LastValue < 0; }
  void callback(bool begins) override {
    if (Lock) // not before open(): the window is not ours
      begins ? Window.callbackBegins() : Window.callbackEnds();
  }
  bool interrupted() const override { return Lock && Window.interrupted(); }
  void warn(const std::string &text) override { T.findings.message("warning: " + text); }

  /// The program sees the completion of the last pass.
  void completeForProgram() {
    const hsa_signal_t signal = Packet.completion_signal;
    if (!signal.handle)
      return;
    auto *to = reinterpret_cast<amd_signal_t *>(signal.handle);
    to->start_ts = Start;
    to->end_ts = End;
    if (LastValue < 0)
      T.api.core.hsa_signal_store_screlease_fn(signal, LastValue);
    else
      T.api.core.hsa_signal_subtract_screlease_fn(signal, 1);
  }

private:
  /// What this queue got in the same call is not behind a fence yet.
  bool drainOwn(std::chrono::steady_clock::time_point until) {
    alignas(64) hsa_barrier_and_packet_t fence;
    if (!Queue.fences.next(T.api, fence))
      return false;
    Write(&fence, 1);
    return Queue.fences.wait(T.api, until);
  }

  void takeTimes(PassResult &result) {
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

  Tool &T;
  QueueState &Queue;
  const std::shared_ptr<const Kernel> &TheKernel;
  const hsa_kernel_dispatch_packet_t &Packet;
  const uint64_t Dispatch;
  const PacketWriter &Write;
  AgentWindow &Window;
  AgentWindow::Exclusive Lock;
  Snapshot Memory;
  hsa_signal_t Signal{}; ///< of a pass
  hsa_signal_value_t LastValue = 0;
  uint64_t Start = 0, End = 0;
};

wavesan_replay_dispatch_info_t infoOf(const QueueState &queue, const Kernel &kernel,
                                      const hsa_kernel_dispatch_packet_t &packet, uint64_t dispatch) {
  static std::atomic<uint64_t> correlations{0};
  wavesan_replay_dispatch_info_t info{};
  info.size = sizeof(info);
  info.dispatch_id = dispatch;
  info.queue_id = queue.number;
  info.agent = queue.agent.handle;
  info.thread_id = uint64_t(syscall(SYS_gettid));
  info.correlation_id = correlations.fetch_add(1, std::memory_order_relaxed) + 1;
  info.kernel_name = kernel.name.c_str();
  const uint32_t grid[3] = {packet.grid_size_x, packet.grid_size_y, packet.grid_size_z};
  const uint32_t group[3] = {packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z};
  std::copy_n(grid, 3, info.grid_size);
  std::copy_n(group, 3, info.workgroup_size);
  info.group_segment_bytes = packet.group_segment_size;
  info.private_segment_bytes = packet.private_segment_size;
  return info;
}

} // namespace

bool replayDispatch(Tool &tool, QueueState &queue, const hsa_kernel_dispatch_packet_t &packet, uint64_t &dispatch,
                    const PacketWriter &write) {
  ReplayService &service = ReplayService::instance();
  const std::optional<wavesan_replay_subscription_t> subscription = service.subscription();
  if (!subscription || insideReplay() || !tool.active() || tool.forkedAway())
    return false;
  const std::shared_ptr<const Kernel> kernel = tool.kernels.find(packet.kernel_object);
  if (!kernel || kernel->internal)
    return false;
  if (dispatch == 0)
    dispatch = tool.nextDispatchNumber();
  const wavesan_replay_dispatch_info_t info = infoOf(queue, *kernel, packet, dispatch);
  PacketHost host(tool, queue, kernel, packet, dispatch, write);
  const ReplayLimits limits{tool.options.replay_max_passes, std::chrono::seconds(tool.options.replay_max_seconds)};
  const ReplayOutcome outcome = runReplay(*subscription, info, service.activeContexts(), limits, host);
  if (tool.options.verbosity >= 1)
    tool.findings.message("kernel replay: dispatch " + std::to_string(dispatch) + ", " + kernel->display + ": " +
                          (outcome.declined ? std::string("runs once, ") + outcome.declined
                                            : std::to_string(outcome.passes) + " passes"));
  if (outcome.declined)
    return false;
  host.completeForProgram();
  return true;
}

} // namespace wavesan::hsa
