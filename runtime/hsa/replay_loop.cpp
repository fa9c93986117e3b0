// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay_loop.h"

#include <algorithm>

namespace wavesan::hsa {

namespace {

/// The localized calls carry no argument that names the loop, so it is that of the thread.
struct Current {
  uint32_t global;     ///< active when the loop began
  uint32_t mask = ~0u; ///< what the tool has not stopped for this loop
  bool passEnter = false;
  bool work = false; ///< workInside()
};
thread_local Current *TheLoop = nullptr;

wavesan_replay_status_t setLocal(wavesan_replay_context_t context, bool on) {
  if (!TheLoop || !TheLoop->passEnter)
    return WAVESAN_REPLAY_ERROR_CONTEXT;
  if (context < 0 || context >= WAVESAN_CONTEXT_LAST)
    return WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT;
  const uint32_t bit = 1u << context;
  TheLoop->mask = on ? TheLoop->mask | bit : TheLoop->mask & ~bit;
  return WAVESAN_REPLAY_SUCCESS;
}
wavesan_replay_status_t startLocal(wavesan_replay_context_t context) { return setLocal(context, true); }
wavesan_replay_status_t stopLocal(wavesan_replay_context_t context) { return setLocal(context, false); }

/// One sequence.
class Sequence {
public:
  Sequence(const wavesan_replay_subscription_t &subscription, const wavesan_replay_dispatch_info_t &dispatch,
           uint32_t contexts, ReplayHost &host)
      : Subscription(subscription), Dispatch(dispatch), Host(host), Loop{contexts} {
    TheLoop = &Loop;
  }
  ~Sequence() { TheLoop = nullptr; }

  ReplayOutcome run(const ReplayLimits &limits) {
    wavesan_replay_payload_t config = payload();
    call(WAVESAN_REPLAY_CONFIG, WAVESAN_REPLAY_ENTER, config);
    const wavesan_replay_continue_t goOn = config.continue_loop;
    uint64_t total = 0;
    const char *declined = plan(config, total);
    if (!declined)
      declined = takeSnapshot();
    config = payload();
    config.total_passes = declined ? 1 : total;
    config.declined = declined;
    call(WAVESAN_REPLAY_CONFIG, WAVESAN_REPLAY_EXIT, config);
    if (declined)
      return {0, declined, nullptr};
    return loop(total, goOn, limits);
  }

private:
  wavesan_replay_payload_t payload() const {
    wavesan_replay_payload_t p{};
    p.size = sizeof(p);
    p.dispatch = Dispatch;
    p.graph_nodes = Host.graphNodes();
    p.range_dispatches = Host.rangeDispatches();
    return p;
  }

  static void describe(const MemoryStep &step, wavesan_replay_payload_t &p) {
    p.bytes = step.bytes, p.regions = step.regions, p.nanoseconds = step.nanoseconds;
    p.tracked_bytes = step.tracked;
    p.copied_bytes = step.copied;
    p.compared_bytes = step.compared;
    std::copy(step.tiers.begin(), step.tiers.end(), p.tier_bytes);
  }

  template <class Call> auto guarded(Call call) {
    struct Guard {
      ReplayHost &host;
      explicit Guard(ReplayHost &h) : host(h) { host.callback(true); }
      ~Guard() { host.callback(false); }
    } guard(Host);
    return call();
  }

  void call(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase, wavesan_replay_payload_t &p) {
    if (Subscription.operations == 0 || (Subscription.operations >> operation & 1))
      guarded([&] { Subscription.callback(operation, phase, &p, &UserData, Subscription.callback_args); });
  }

  const char *plan(const wavesan_replay_payload_t &config, uint64_t &total) {
    if (!config.pass_count)
      return kDeclineNoPassCount;
    total = guarded([&] { return config.pass_count(&Dispatch, &UserData); });
    if (total == 1)
      return kDeclineOnePass;
    if (total != 0 || config.continue_loop)
      return nullptr;
    Host.warn(std::string("kernel replay: the tool wants passes without end for ") + Dispatch.kernel_name +
              " and gives nothing that ends them; it is not replayed");
    return kDeclineEndless;
  }

  const char *takeSnapshot() {
    MemoryStep step;
    if (const char *declined = Host.open(step))
      return declined;
    wavesan_replay_payload_t p = payload();
    describe(step, p);
    call(WAVESAN_REPLAY_SNAPSHOT, WAVESAN_REPLAY_ENTER, p);
    const char *declined = Host.interrupted() ? kDeclineInterrupted : Host.save(step);
    p = payload();
    describe(step, p);
    p.digest = declined ? 0 : digest();
    call(WAVESAN_REPLAY_SNAPSHOT, WAVESAN_REPLAY_EXIT, p);
    return declined;
  }

  /// False: it has not ended.
  bool pass(uint64_t number, uint64_t total) {
    wavesan_replay_payload_t p = payload();
    p.total_passes = total;
    p.current_pass = number;
    p.start_context = startLocal;
    p.stop_context = stopLocal;
    Loop.passEnter = true;
    call(WAVESAN_REPLAY_PASS, WAVESAN_REPLAY_ENTER, p);
    Loop.passEnter = false;
    const PassResult result = Host.pass(number, Loop.global & Loop.mask);
    p = payload();
    p.total_passes = total;
    p.current_pass = number;
    p.start_ns = result.startNs, p.end_ns = result.endNs, p.digest = result.digest;
    p.active_contexts = result.contexts;
    p.seed = result.seed;
    p.accesses = result.accesses, p.access_count = result.accessCount, p.accesses_lost = result.accessesLost;
    p.dispatch_accesses = result.dispatchAccesses;
    call(WAVESAN_REPLAY_PASS, WAVESAN_REPLAY_EXIT, p);
    return result.ended;
  }

  /// Of memory that nobody has written since it was saved or restored.
  uint64_t digest() { return Loop.global >> WAVESAN_CONTEXT_OUTPUT_DIGEST & 1 ? Host.digest() : 0; }

  /// False: it must not, and no pass follows.
  bool restore() {
    wavesan_replay_payload_t p = payload();
    call(WAVESAN_REPLAY_RESTORE, WAVESAN_REPLAY_ENTER, p);
    const bool allowed = !Host.interrupted();
    const MemoryStep step = allowed ? Host.restore() : MemoryStep();
    p = payload();
    describe(step, p);
    p.digest = allowed ? digest() : 0;
    call(WAVESAN_REPLAY_RESTORE, WAVESAN_REPLAY_EXIT, p);
    return allowed;
  }

  void sayStopped(const ReplayOutcome &outcome) {
    Host.warn(std::string("kernel replay: ") + Dispatch.kernel_name + " stopped after " +
              std::to_string(outcome.passes) + " passes (" + outcome.stopped + ")");
  }

  ReplayOutcome loop(uint64_t total, wavesan_replay_continue_t goOn, const ReplayLimits &limits) {
    const auto begin = std::chrono::steady_clock::now();
    ReplayOutcome outcome;
    for (uint64_t number = 0;; ++number) {
      const bool ended = pass(number, total);
      outcome.passes = number + 1;
      if (!ended) {
        outcome.stopped = kDeclineOverdue;
        sayStopped(outcome);
        break;
      }
      if ((total != 0 && number + 1 == total) || Host.failed())
        break;
      if (goOn && !guarded([&] { return goOn(&Dispatch, number, &UserData); }))
        break;
      if (Host.interrupted())
        outcome.stopped = kDeclineInterrupted;
      else if (total == 0 && number + 1 >= limits.maxPasses)
        outcome.stopped = "replay_max_passes";
      else if (total == 0 && std::chrono::steady_clock::now() - begin >= limits.maxTime)
        outcome.stopped = "replay_max_seconds";
      if (outcome.stopped) {
        sayStopped(outcome);
        break;
      }
      if (!restore()) {
        outcome.stopped = kDeclineInterrupted;
        sayStopped(outcome);
        break;
      }
    }
    return outcome;
  }

  const wavesan_replay_subscription_t &Subscription;
  const wavesan_replay_dispatch_info_t &Dispatch;
  ReplayHost &Host;
  wavesan_replay_user_data_t UserData{};
  Current Loop;
};

} // namespace

ReplayOutcome runReplay(const wavesan_replay_subscription_t &subscription,
                        const wavesan_replay_dispatch_info_t &dispatch, uint32_t contexts, const ReplayLimits &limits,
                        ReplayHost &host) {
  return Sequence(subscription, dispatch, contexts, host).run(limits);
}

bool insideReplay() { return TheLoop != nullptr; }

void noteWorkInside() {
  if (TheLoop)
    TheLoop->work = true;
}
bool workInside() { return TheLoop && TheLoop->work; }

} // namespace wavesan::hsa
