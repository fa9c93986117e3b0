// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay_graph.h"

#include "own_packets.h"
#include "replay_packet.h"
#include "replay_range.h"
#include "replay_service.h"
#include "tool.h"

#include "wavesan/abi/option_units.h"
#include "wavesan/abi/replay.h"

#include <ctime>
#include <dlfcn.h>
#include <optional>
#include <sys/syscall.h>
#include <unistd.h>

namespace wavesan::hsa {

namespace {

thread_local const GraphPass *thePass = nullptr;

constexpr char kName[] = "(graph)";

class GraphHost : public ReplayHost {
public:
  GraphHost(Tool &tool, const abi::GraphRange &range)
      : T(tool), Range(range), Window(tool.windows.only(Agent)), Memory(snapshotOn(tool, Agent)) {}

  const char *open(MemoryStep &predicted) override {
    if (Range.declined)
      return Range.declined;
    if (!Window)
      return kDeclineAgents;
    for (uint64_t i = 0; i < Range.kernelCount; ++i)
      if (const auto kernel = T.kernels.findByName(Range.kernels[i]);
          !kernel || kernel->mayCallHost || kernel->waitsForHost())
        return kDeclineHostCall;
    if (T.memory.hasUntracked())
      return kDeclineUntracked;
    const auto until = std::chrono::steady_clock::now() + abi::secondsOf(T.options.replay_drain_seconds);
    Lock = Window->take(until);
    if (!Lock || !Window->waitOthers(T.api, nullptr, until) || !drain(until))
      return kDeclineAgentDrain;
    predicted = Memory.plan();
    return predicted.fits ? nullptr : kDeclineBudget;
  }

  const char *save(MemoryStep &taken) override {
    std::string error;
    const char *why = Memory.save(taken, error);
    if (why)
      T.findings.message(std::string("kernel replay: no snapshot for ") + kName + ": " + error);
    return why;
  }

  PassResult pass(uint64_t number, uint32_t contexts) override {
    PassResult result;
    const bool perturbs = T.cpuAgent && contexts >> WAVESAN_CONTEXT_SCHEDULE_PERTURBATION & 1;
    const bool checks = contexts >> WAVESAN_CONTEXT_RACE_CHECK & 1;
    {
      std::optional<ScheduleSet> schedule;
      if (perturbs) {
        result.seed = T.options.seed + number;
        schedule.emplace(*T.cpuAgent, abi::Schedule{result.seed, false, false, {}, {}});
      }
      // Only the first one is the launch that the program has made.
      const GraphPass pass = {checks, {number == 0, number != 0}};
      thePass = &pass;
      Window->passBegins(T.api, abi::secondsOf(T.options.replay_drain_seconds));
      result.startNs = now();
      Result = Range.launch(Range.self);
      result.endNs = now();
      Window->passEnds();
      thePass = nullptr;
    }
    drain(std::chrono::steady_clock::now() + abi::secondsOf(T.options.replay_drain_seconds));
    result.contexts = uint32_t(checks) << WAVESAN_CONTEXT_RACE_CHECK | uint32_t(perturbs)
                                                                           << WAVESAN_CONTEXT_SCHEDULE_PERTURBATION;
    if (contexts >> WAVESAN_CONTEXT_DISPATCH_TIMING & 1)
      result.contexts |= 1u << WAVESAN_CONTEXT_DISPATCH_TIMING;
    else
      result.startNs = result.endNs = 0;
    if (contexts >> WAVESAN_CONTEXT_OUTPUT_DIGEST & 1 && !interrupted()) { // else memory is not the pass's alone
      result.digest = digest();
      result.contexts |= uint32_t(result.digest != 0) << WAVESAN_CONTEXT_OUTPUT_DIGEST;
    }
    return result;
  }

  uint64_t digest() override {
    std::string error;
    // HIP's own memory (arguments of kernels, staging buffers) differs from launch to launch.
    const uint64_t digest = Memory.digest(error, [this](const MemoryMap::LiveRange &range) {
      return range.kind == MemoryMap::Kind::DeviceVariable || Range.isOfProgram(Range.self, range.begin, range.bytes);
    });
    if (!error.empty())
      T.findings.error("kernel replay: no digest: " + error);
    return digest;
  }

  MemoryStep restore() override {
    MemoryStep step;
    std::string error;
    if (!Memory.restore(step, error))
      endBecauseOfRestore(T, kName, error);
    return step;
  }

  bool failed() const override { return Result != 0; }
  void callback(bool begins) override {
    if (Lock)
      begins ? Window->callbackBegins() : Window->callbackEnds();
  }
  bool interrupted() const override { return Lock && Window->interrupted(); }
  void warn(const std::string &text) override { T.findings.message("warning: " + text); }
  uint64_t graphNodes() const override { return Range.nodes; }

  hsa_agent_t agent() const { return Agent; }
  int result() const { return Result; }

private:
  /// The drain thread completes checked dispatches behind the device.
  bool drain(std::chrono::steady_clock::time_point until) {
    return T.drain.waitIdle(
        0, std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()));
  }
  static uint64_t now() {
    timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
  }

  Tool &T;
  const abi::GraphRange &Range;
  hsa_agent_t Agent{};       ///< of Window
  AgentWindow *const Window; ///< null: there is not one agent
  AgentWindow::Exclusive Lock;
  Snapshot Memory;
  int Result = 0;
};

bool replayGraph(const abi::GraphRange *range, int *result) try {
  Tool *tool = Tool::current();
  ReplayService &service = ReplayService::instance();
  const std::optional<wavesan_replay_subscription_t> subscription = service.subscription();
  if (!tool || !subscription || !subscription->graphs || insideReplay() || !tool->active() || tool->forkedAway())
    return false;
  ReplayRange::instance().giveUp(kDeclineRangeGraph);
  wavesan_replay_dispatch_info_t info{};
  info.size = sizeof(info);
  info.dispatch_id = info.correlation_id = tool->nextDispatchNumber();
  info.thread_id = uint64_t(syscall(SYS_gettid));
  info.kernel_name = kName;
  forgetOwnPackets();
  GraphHost host(*tool, *range);
  info.agent = host.agent().handle;
  const ReplayLimits limits{tool->options.replay_max_passes, abi::secondsOf(tool->options.replay_max_seconds)};
  const ReplayOutcome outcome = runReplay(*subscription, info, service.activeContexts(), limits, host);
  if (tool->options.verbosity >= 1)
    tool->findings.message("kernel replay: graph of " + std::to_string(range->nodes) + " nodes: " +
                           (outcome.declined ? std::string("runs once, ") + outcome.declined
                                             : std::to_string(outcome.passes) + " passes"));
  *result = host.result();
  return !outcome.declined;
} catch (const std::bad_alloc &) { // before the first pass: afterwards nothing is allocated that may throw
  return false;
}

} // namespace

const GraphPass *currentGraphPass() { return thePass; }

void connectGraphReplay() {
  using Entry = void(uint32_t, abi::ReplayGraph *);
  if (auto *entry = reinterpret_cast<Entry *>(dlsym(RTLD_DEFAULT, abi::kReplayGraphSymbol)))
    entry(abi::kAbiVersion, replayGraph);
}

} // namespace wavesan::hsa
