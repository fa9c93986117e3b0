// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay_loop.h"
#include "replay_service.h"

#include <gtest/gtest.h>

#include <functional>

using namespace wavesan::hsa;
using Words = std::vector<std::string>;

namespace {

/// What happened, in order, as words: "config enter", "pass 0", "save".
Words Events;
/// The tool of a test.
struct ToolScript {
  std::optional<uint64_t> passes; ///< nothing: pass_count is not set
  std::function<bool(uint64_t)> goOn;
  std::function<void(uint64_t pass, wavesan_replay_payload_t &)> passEnter;
  std::function<void(wavesan_replay_payload_t &)> configExit;
};
ToolScript Script;
std::vector<wavesan_replay_payload_t> Payloads;

uint64_t passCount(const wavesan_replay_dispatch_info_t *dispatch, wavesan_replay_user_data_t *user) {
  Events.push_back("pass_count");
  EXPECT_EQ(dispatch->dispatch_id, 7u);
  EXPECT_EQ(user->value, 42u);
  return *Script.passes;
}
int goOn(const wavesan_replay_dispatch_info_t *dispatch, uint64_t pass, wavesan_replay_user_data_t *user) {
  Events.push_back("continue " + std::to_string(pass));
  EXPECT_EQ(dispatch->dispatch_id, 7u);
  EXPECT_EQ(user->value, 42u);
  return Script.goOn(pass);
}

void onReplay(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase, wavesan_replay_payload_t *payload,
              wavesan_replay_user_data_t *user, void *arguments) {
  EXPECT_EQ(arguments, &Script);
  EXPECT_EQ(payload->size, sizeof(*payload));
  EXPECT_EQ(payload->dispatch.dispatch_id, 7u);
  EXPECT_EQ(payload->dispatch.correlation_id, 9u);
  Events.push_back(std::string(replayApi().operation_name(operation)) +
                   (phase == WAVESAN_REPLAY_ENTER ? " enter" : " exit"));
  Payloads.push_back(*payload);
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_ENTER) {
    user->value = 42;
    if (Script.passes)
      payload->pass_count = passCount;
    if (Script.goOn)
      payload->continue_loop = goOn;
  } else {
    EXPECT_EQ(user->value, 42u);
    EXPECT_EQ(payload->pass_count, nullptr);
    EXPECT_EQ(payload->continue_loop, nullptr);
  }
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_EXIT && Script.configExit)
    Script.configExit(*payload);
  if (operation == WAVESAN_REPLAY_PASS && phase == WAVESAN_REPLAY_ENTER && Script.passEnter)
    Script.passEnter(payload->current_pass, *payload);
}

class FakeHost : public ReplayHost {
public:
  const char *open(MemoryStep &predicted) override {
    Events.push_back("open");
    predicted = {4096, 2, 5, 8192, {0, 96, 4000, 0}};
    return cannotOpen;
  }
  const char *save(MemoryStep &taken) override {
    Events.push_back("save");
    taken = {4096, 2, 6, 8192, {0, 0, 4000, 96}};
    return cannotSave;
  }
  PassResult pass(uint64_t number, uint32_t contexts) override {
    Events.push_back("run");
    masks.push_back(contexts);
    PassResult result{100 + number, 200 + number, 300 + number, contexts};
    result.ended = masks.size() != overdueAt;
    return result;
  }
  MemoryStep restore() override {
    Events.push_back("write back");
    return {64, 1, 7};
  }
  bool failed() const override { return masks.size() == failAfter; }
  void callback(bool begins) override {
    EXPECT_NE(begins, inCallback);
    inCallback = begins;
    if (!begins && Events.size() >= interruptAt)
      isInterrupted = true;
  }
  bool interrupted() const override { return isInterrupted; }
  bool inCallback = false, isInterrupted = false;
  size_t interruptAt = SIZE_MAX; ///< the callback that makes the number of events so large lets other work in
  void warn(const std::string &text) override { warnings.push_back(text); }

  const char *cannotOpen = nullptr, *cannotSave = nullptr;
  size_t failAfter = 0, overdueAt = 0;
  std::vector<uint32_t> masks;
  Words warnings;
};

class ReplayLoop : public testing::Test {
protected:
  void SetUp() override {
    Script = {};
    Events.clear();
    Payloads.clear();
  }
  ReplayOutcome run(uint32_t contexts = 7, uint32_t operations = 0) {
    wavesan_replay_subscription_t subscription{sizeof(subscription), onReplay, &Script, operations, 0};
    wavesan_replay_dispatch_info_t info{};
    info.size = sizeof(info);
    info.dispatch_id = 7;
    info.correlation_id = 9;
    info.kernel_name = "k";
    ReplayOutcome outcome = runReplay(subscription, info, contexts, limits, host);
    EXPECT_FALSE(insideReplay());
    return outcome;
  }
  /// Expects that the dispatch is left to the caller, and why.
  void expectDeclined(const char *why, const Words &events) {
    std::string said;
    Script.configExit = [&](wavesan_replay_payload_t &p) {
      said = p.declined ? p.declined : "";
      EXPECT_EQ(p.total_passes, 1u);
    };
    const ReplayOutcome outcome = run();
    EXPECT_EQ(outcome.passes, 0u);
    EXPECT_STREQ(outcome.declined, why);
    EXPECT_EQ(said, why);
    EXPECT_EQ(Events, events);
    EXPECT_TRUE(host.masks.empty());
  }
  FakeHost host;
  ReplayLimits limits{1000, std::chrono::minutes(1)};
};

const Words kConfigured = {"config enter", "pass_count",    "open",       "snapshot enter",
                           "save",         "snapshot exit", "config exit"};

Words with(Words head, const Words &tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

} // namespace

// The rows of the pass-count table.

TEST_F(ReplayLoop, NoPassCountIsNotReplayed) {
  Script.goOn = [](uint64_t) { return true; }; // ignored
  expectDeclined(kDeclineNoPassCount, {"config enter", "config exit"});
}

TEST_F(ReplayLoop, OnePassIsNotReplayed) {
  Script.passes = 1;
  Script.goOn = [](uint64_t) { return true; };
  expectDeclined(kDeclineOnePass, {"config enter", "pass_count", "config exit"});
}

TEST_F(ReplayLoop, ZeroWithoutContinueIsRejectedWithAWarning) {
  Script.passes = 0;
  expectDeclined(kDeclineEndless, {"config enter", "pass_count", "config exit"});
  ASSERT_EQ(host.warnings.size(), 1u);
}

TEST_F(ReplayLoop, ExactlyNPassesInTheDocumentedOrder) {
  Script.passes = 3;
  EXPECT_EQ(run().passes, 3u);
  const Words pass = {"pass enter", "run", "pass exit"}, restore = {"restore enter", "write back", "restore exit"};
  EXPECT_EQ(Events, with(with(with(with(with(kConfigured, pass), restore), pass), restore), pass));
}

TEST_F(ReplayLoop, ContinueEndsAFixedLoopAndIsNotAskedAfterTheLastPass) {
  Script.passes = 3;
  Script.goOn = [](uint64_t) { return true; };
  EXPECT_EQ(run().passes, 3u);
  EXPECT_EQ(std::count(Events.begin(), Events.end(), "continue 1"), 1);
  EXPECT_EQ(std::count(Events.begin(), Events.end(), "continue 2"), 0);

  Events.clear();
  host.masks.clear();
  Script.goOn = [](uint64_t pass) { return pass != 1; };
  EXPECT_EQ(run().passes, 2u);
  // The break comes before a restore: the last pass leaves the application's memory.
  EXPECT_EQ(Events.back(), "continue 1");
}

TEST_F(ReplayLoop, AnEndlessLoopAsksAfterEveryPassAndReportsZeroInTotal) {
  Script.passes = 0;
  Script.goOn = [](uint64_t pass) { return pass < 4; };
  Script.passEnter = [](uint64_t, wavesan_replay_payload_t &p) { EXPECT_EQ(p.total_passes, 0u); };
  EXPECT_EQ(run().passes, 5u);
  EXPECT_EQ(std::count(Events.begin(), Events.end(), "continue 4"), 1);
}

TEST_F(ReplayLoop, LimitsEndAnEndlessLoop) {
  Script.passes = 0;
  Script.goOn = [](uint64_t) { return true; };
  limits.maxPasses = 6;
  ReplayOutcome outcome = run();
  EXPECT_EQ(outcome.passes, 6u);
  EXPECT_STREQ(outcome.stopped, "replay_max_passes");
  EXPECT_EQ(host.warnings.size(), 1u);
  limits = {1000, std::chrono::milliseconds(0)};
  outcome = run();
  EXPECT_EQ(outcome.passes, 1u);
  EXPECT_STREQ(outcome.stopped, "replay_max_seconds");
}

TEST_F(ReplayLoop, LimitsDoNotConcernAFixedLoop) {
  Script.passes = 9;
  limits = {2, std::chrono::milliseconds(0)};
  EXPECT_EQ(run().passes, 9u);
}

// What callbacks see.

TEST_F(ReplayLoop, PayloadsCarryWhatBelongsToTheOperation) {
  Script.passes = 2;
  run();
  ASSERT_EQ(Payloads.size(), 10u);
  const auto &snapshotEnter = Payloads[1], &snapshotExit = Payloads[2], &configExit = Payloads[3];
  EXPECT_EQ(snapshotEnter.bytes, 4096u);
  EXPECT_EQ(snapshotEnter.nanoseconds, 5u);
  EXPECT_EQ(snapshotExit.nanoseconds, 6u);
  EXPECT_EQ(snapshotEnter.tracked_bytes, 8192u);
  EXPECT_EQ(snapshotEnter.tier_bytes[WAVESAN_TIER_PINNED], 96u);
  EXPECT_EQ(snapshotEnter.tier_bytes[WAVESAN_TIER_PAGEABLE], 4000u);
  EXPECT_EQ(snapshotExit.tier_bytes[WAVESAN_TIER_PINNED], 0u);
  EXPECT_EQ(snapshotExit.tier_bytes[WAVESAN_TIER_FILE], 96u);
  EXPECT_EQ(configExit.total_passes, 2u);
  EXPECT_EQ(configExit.declined, nullptr);
  const auto &passEnter = Payloads[4], &passExit = Payloads[5], &restoreExit = Payloads[7], &secondExit = Payloads[9];
  EXPECT_NE(passEnter.start_context, nullptr);
  EXPECT_EQ(passExit.start_context, nullptr);
  EXPECT_EQ(passEnter.start_ns, 0u);
  EXPECT_EQ(passExit.start_ns, 100u);
  EXPECT_EQ(passExit.digest, 300u);
  EXPECT_EQ(restoreExit.bytes, 64u);
  EXPECT_EQ(secondExit.current_pass, 1u);
  EXPECT_EQ(secondExit.end_ns, 201u);
}

TEST_F(ReplayLoop, OnlySubscribedOperationsAreDelivered) {
  Script.passes = 2;
  EXPECT_EQ(run(7, 1u << WAVESAN_REPLAY_CONFIG).passes, 2u);
  EXPECT_EQ(std::count(Events.begin(), Events.end(), "pass enter"), 0);
  EXPECT_EQ(std::count(Events.begin(), Events.end(), "run"), 2);
}

TEST_F(ReplayLoop, DeclinedByTheHost) {
  Script.passes = 2;
  host.cannotOpen = kDeclineBudget;
  expectDeclined(kDeclineBudget, {"config enter", "pass_count", "open", "config exit"});
  Events.clear();
  host.cannotOpen = nullptr;
  host.cannotSave = kDeclineSnapshot;
  expectDeclined(kDeclineSnapshot, kConfigured);
}

TEST_F(ReplayLoop, AFailedPassIsTheLast) {
  Script.passes = 5;
  host.failAfter = 2;
  EXPECT_EQ(run().passes, 2u);
  EXPECT_EQ(Events.back(), "pass exit");
}

TEST_F(ReplayLoop, APassThatDoesNotEndIsTheLast) {
  Script.passes = 5;
  Script.goOn = [](uint64_t) { return true; };
  host.overdueAt = 2;
  const ReplayOutcome outcome = run();
  EXPECT_EQ(outcome.passes, 2u);
  EXPECT_STREQ(outcome.stopped, kDeclineOverdue);
  EXPECT_EQ(Events.back(), "pass exit");
  EXPECT_EQ(host.warnings.size(), 1u);
}

TEST_F(ReplayLoop, OtherWorkThatWasLetInEndsTheLoopWithoutARestore) {
  Script.passes = 4;
  Script.goOn = [](uint64_t) { return true; };
  run();
  const Words whole = Events;
  const auto snapshotEntered = size_t(std::find(whole.begin(), whole.end(), "snapshot enter") - whole.begin()) + 1;
  // In whichever callback it is let in: memory is never written back after it, and the dispatch has run.
  for (size_t at = snapshotEntered; at < whole.size(); ++at) {
    Events.clear();
    host.masks.clear();
    host.isInterrupted = false;
    host.interruptAt = at;
    const ReplayOutcome outcome = run();
    ASSERT_TRUE(host.isInterrupted || outcome.passes == 4) << at;
    const auto from = Events.begin() + ptrdiff_t(std::min(at, Events.size()));
    if (host.isInterrupted)
      EXPECT_EQ(std::count(from, Events.end(), "write back"), 0) << at;
    EXPECT_LE(std::count(from, Events.end(), "run"), 1) << at;
    if (outcome.declined)
      EXPECT_STREQ(outcome.declined, kDeclineInterrupted) << at;
    else
      EXPECT_GE(outcome.passes, 1u) << at;
  }
}

// Localized contexts.

TEST_F(ReplayLoop, LocalizedStopIsStickyAndEndsWithTheLoop) {
  Script.passes = 4;
  Script.passEnter = [](uint64_t pass, wavesan_replay_payload_t &p) {
    if (pass == 1) {
      EXPECT_EQ(p.stop_context(WAVESAN_CONTEXT_RACE_CHECK), WAVESAN_REPLAY_SUCCESS);
    } else if (pass == 3) {
      EXPECT_EQ(p.start_context(WAVESAN_CONTEXT_RACE_CHECK), WAVESAN_REPLAY_SUCCESS);
    }
  };
  run(7);
  EXPECT_EQ(host.masks, (std::vector<uint32_t>{7, 6, 6, 7}));
  Script.passEnter = {};
  host.masks.clear();
  run(7);
  EXPECT_EQ(host.masks, (std::vector<uint32_t>{7, 7, 7, 7}));
}

TEST_F(ReplayLoop, LocalizedStartDoesNotStartWhatIsNotActiveGlobally) {
  Script.passes = 2;
  Script.passEnter = [](uint64_t, wavesan_replay_payload_t &p) {
    EXPECT_EQ(p.start_context(WAVESAN_CONTEXT_OUTPUT_DIGEST), WAVESAN_REPLAY_SUCCESS);
  };
  run(1);
  EXPECT_EQ(host.masks, (std::vector<uint32_t>{1, 1}));
}

TEST_F(ReplayLoop, LocalizedCallsOutsideOfPassEnterFailAndRecordNothing) {
  static wavesan_replay_context_call_t kept;
  Script.passes = 3;
  Script.passEnter = [](uint64_t, wavesan_replay_payload_t &p) {
    kept = p.stop_context;
    EXPECT_EQ(kept(WAVESAN_CONTEXT_LAST), WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT);
  };
  Script.goOn = [](uint64_t) {
    EXPECT_EQ(kept(WAVESAN_CONTEXT_RACE_CHECK), WAVESAN_REPLAY_ERROR_CONTEXT);
    return true;
  };
  run(7);
  EXPECT_EQ(kept(WAVESAN_CONTEXT_RACE_CHECK), WAVESAN_REPLAY_ERROR_CONTEXT);
  EXPECT_EQ(host.masks, (std::vector<uint32_t>{7, 7, 7}));
}

// The service.

TEST(ReplayServiceTest, OneSubscriberWithValidArguments) {
  ReplayService service;
  wavesan_replay_subscription_t s{sizeof(s), onReplay, nullptr, 0, 0};
  EXPECT_FALSE(service.everSubscribed());
  EXPECT_EQ(service.unsubscribe(), WAVESAN_REPLAY_ERROR_NOT_SUBSCRIBED);
  EXPECT_EQ(service.subscribe(nullptr), WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT);
  wavesan_replay_subscription_t bad = s;
  bad.callback = nullptr;
  EXPECT_EQ(service.subscribe(&bad), WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT);
  bad = s;
  bad.size = 8;
  EXPECT_EQ(service.subscribe(&bad), WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT);
  bad = s;
  bad.operations = 1u << WAVESAN_REPLAY_LAST;
  EXPECT_EQ(service.subscribe(&bad), WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT);
  EXPECT_FALSE(service.subscription());
  EXPECT_EQ(service.subscribe(&s), WAVESAN_REPLAY_SUCCESS);
  EXPECT_EQ(service.subscribe(&s), WAVESAN_REPLAY_ERROR_SUBSCRIBED);
  EXPECT_TRUE(service.subscription());
  EXPECT_EQ(service.unsubscribe(), WAVESAN_REPLAY_SUCCESS);
  EXPECT_FALSE(service.subscription());
  EXPECT_TRUE(service.everSubscribed());
}

TEST(ReplayServiceTest, WithoutConfigNothingIsReplayed) {
  ReplayService service;
  wavesan_replay_subscription_t s{sizeof(s), onReplay, nullptr, 1u << WAVESAN_REPLAY_PASS, 0};
  EXPECT_EQ(service.subscribe(&s), WAVESAN_REPLAY_SUCCESS);
  EXPECT_FALSE(service.subscription());
}

TEST(ReplayServiceTest, AnOlderToolsStructureIsTaken) {
  ReplayService service;
  wavesan_replay_subscription_t s{offsetof(wavesan_replay_subscription_t, operations), onReplay, &Script, 99, 0};
  EXPECT_EQ(service.subscribe(&s), WAVESAN_REPLAY_SUCCESS);
  EXPECT_EQ(service.subscription()->operations, 0u);
  EXPECT_EQ(service.subscription()->callback_args, &Script);
}

TEST(ReplayServiceTest, Contexts) {
  ReplayService service;
  int active = 0;
  EXPECT_EQ(service.isActive(WAVESAN_CONTEXT_RACE_CHECK, &active), WAVESAN_REPLAY_SUCCESS);
  EXPECT_EQ(active, 1);
  EXPECT_EQ(service.setContext(WAVESAN_CONTEXT_OUTPUT_DIGEST, true), WAVESAN_REPLAY_SUCCESS);
  EXPECT_EQ(service.activeContexts(), 5u);
  EXPECT_EQ(service.setContext(WAVESAN_CONTEXT_RACE_CHECK, false), WAVESAN_REPLAY_SUCCESS);
  EXPECT_EQ(service.activeContexts(), 4u);
  EXPECT_EQ(service.setContext(WAVESAN_CONTEXT_ACCESS_TRACE, true), WAVESAN_REPLAY_ERROR_NOT_PROVIDED);
  EXPECT_EQ(service.setContext(WAVESAN_CONTEXT_SCHEDULE_PERTURBATION, true), WAVESAN_REPLAY_ERROR_NOT_PROVIDED);
  EXPECT_EQ(service.setContext(WAVESAN_CONTEXT_LAST, true), WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(service.isActive(WAVESAN_CONTEXT_LAST, &active), WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(service.isActive(WAVESAN_CONTEXT_RACE_CHECK, nullptr), WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT);
}

TEST(ReplayServiceTest, ToolsThatCannotBeLoaded) {
  ReplayService service;
  std::string error;
  EXPECT_FALSE(service.loadTool("/nowhere/libtool.so", error));
  EXPECT_EQ(error.find("option tool: "), 0u) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos);
  EXPECT_FALSE(service.loadTool("libm.so.6", error));
  EXPECT_EQ(error, "option tool: libm.so.6 exports no wavesan_tool_init");
}

// What it has asked for before it failed does not stay.
TEST(ReplayServiceTest, AToolThatFailsToBegin) {
  ReplayService &service = ReplayService::instance();
  const uint32_t contexts = service.activeContexts();
  std::string error;
  EXPECT_FALSE(service.loadTool(FAILING_TOOL, error));
  EXPECT_EQ(error, "option tool: wavesan_tool_init of " FAILING_TOOL " failed with 7");
  EXPECT_FALSE(service.subscription());
  EXPECT_EQ(service.unsubscribe(), WAVESAN_REPLAY_ERROR_NOT_SUBSCRIBED);
  EXPECT_EQ(service.activeContexts(), contexts);
  service.finishTool(); // it does not get that call
}
