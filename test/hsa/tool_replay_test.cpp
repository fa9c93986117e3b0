// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernel replay of the whole tool over a fabricated runtime: what reaches the hardware, what the program sees, and
// reasons to decline that a language runtime hardly ever brings about.
#include "tool_fixture.h"

#include "replay_range.h"
#include "replay_service.h"
#include "tool.h"

#include <cstring>

using namespace wavesan;
using namespace wavesan::test;
using namespace wavesan::hsa;

namespace {

std::vector<std::string> Declined; ///< of CONFIG EXIT; "" where replayed
std::vector<wavesan_replay_payload_t> Passes, Snapshots, Restores;
std::function<void(uint64_t)> BehindPass; ///< what the tool does in PASS EXIT

void onReplay(wavesan_replay_operation_t operation, wavesan_replay_phase_t phase, wavesan_replay_payload_t *payload,
              wavesan_replay_user_data_t *, void *) {
  if (operation == WAVESAN_REPLAY_CONFIG && phase == WAVESAN_REPLAY_ENTER)
    payload->pass_count = [](const wavesan_replay_dispatch_info_t *, wavesan_replay_user_data_t *) -> uint64_t {
      return 3;
    };
  if (phase != WAVESAN_REPLAY_EXIT)
    return;
  if (operation == WAVESAN_REPLAY_CONFIG)
    Declined.push_back(payload->declined ? payload->declined : "");
  if (operation == WAVESAN_REPLAY_PASS)
    Passes.push_back(*payload);
  if (operation == WAVESAN_REPLAY_PASS && BehindPass)
    BehindPass(payload->current_pass);
  if (operation == WAVESAN_REPLAY_SNAPSHOT)
    Snapshots.push_back(*payload);
  if (operation == WAVESAN_REPLAY_RESTORE)
    Restores.push_back(*payload);
}

class ToolReplay : public ToolTest {
protected:
  void SetUp() override {
    ToolTest::SetUp();
    Declined.clear();
    BehindPass = nullptr;
    Passes.clear();
    Snapshots.clear();
    Restores.clear();
    Runtime->core().hsa_memory_copy_fn = [](void *to, const void *from, size_t bytes) {
      std::memcpy(to, from, bytes);
      return HSA_STATUS_SUCCESS;
    };
    Runtime->core().hsa_system_get_info_fn = [](hsa_system_info_t, void *value) {
      *static_cast<uint64_t *>(value) = 1'000'000'000;
      return HSA_STATUS_SUCCESS;
    };
    Runtime->amd().hsa_amd_profiling_get_dispatch_time_fn = [](hsa_agent_t, hsa_signal_t s,
                                                               hsa_amd_profiling_dispatch_time_t *time) {
      const auto *signal = reinterpret_cast<const amd_signal_t *>(s.handle);
      *time = {signal->start_ts, signal->end_ts};
      return HSA_STATUS_SUCCESS;
    };
    Runtime->amd().hsa_amd_interop_map_buffer_fn = [](uint32_t, hsa_agent_t *, int, uint32_t, size_t *, void **,
                                                      size_t *, const void **) { return HSA_STATUS_SUCCESS; };
    // The device adds one to what it finds, and takes its time.
    Runtime->device = [this](const DispatchPacket &packet) {
      Executed.push_back(packet);
      if (Data)
        ++*Data;
      Clock += 10;
      Runtime->complete(packet, Runtime->signalValue(packet.completion_signal) - 1, Clock, Clock + 5);
    };
    static wavesan_replay_subscription_t subscription{sizeof(subscription), onReplay, nullptr, 0, 0};
    ASSERT_EQ(ReplayService::instance().subscribe(&subscription), WAVESAN_REPLAY_SUCCESS);
    for (wavesan_replay_context_t context : {WAVESAN_CONTEXT_DISPATCH_TIMING, WAVESAN_CONTEXT_OUTPUT_DIGEST})
      ReplayService::instance().setContext(context, true);
  }
  void TearDown() override {
    ReplayService::instance().unsubscribe();
    ToolTest::TearDown();
  }
  void allocate() {
    Data = static_cast<uint64_t *>(Runtime->allocateMemory(kDevicePool, 4096));
    std::memset(Data, 0, 4096);
    *Data = 7;
  }
  /// A packet whose signal has the value 5 in front of it.
  DispatchPacket counted() {
    DispatchPacket p = packet(kPlainObject); // the other one could call the host
    p.completion_signal = Runtime->createSignal(5);
    return p;
  }
  void expectDeclined(const char *why) {
    allocate();
    const DispatchPacket p = counted();
    Runtime->submit(*Queue, {p});
    ASSERT_EQ(Declined, std::vector<std::string>{why});
    EXPECT_EQ(Executed.size(), 1u); // it runs once
    waitFor([&] { return Runtime->signalValue(p.completion_signal) == 4; });
    EXPECT_EQ(*Data, 8u);
    EXPECT_TRUE(Passes.empty());
  }

  std::vector<DispatchPacket> Executed;
  uint64_t *Data = nullptr, Clock = 1000;
};

} // namespace

TEST_F(ToolReplay, TheProgramSeesOneDispatchAndOneCompletion) {
  load();
  allocate();
  const DispatchPacket p = counted();
  Runtime->submit(*Queue, {p});
  ASSERT_EQ(Declined, std::vector<std::string>{""});
  ASSERT_EQ(Executed.size(), 3u);
  EXPECT_EQ(*Data, 8u);
  EXPECT_EQ(Runtime->signalValue(p.completion_signal), 4);
  for (const DispatchPacket &e : Executed)
    EXPECT_NE(e.completion_signal.handle, p.completion_signal.handle);
  // Each pass has times of its own; the program gets those of the last one.
  ASSERT_EQ(Passes.size(), 3u);
  for (size_t i = 1; i < 3; ++i)
    EXPECT_GT(Passes[i].start_ns, Passes[i - 1].end_ns);
  EXPECT_EQ(reinterpret_cast<const amd_signal_t *>(p.completion_signal.handle)->start_ts, Passes[2].start_ns);
  for (const auto &pass : Passes) {
    EXPECT_EQ(pass.dispatch.dispatch_id, Passes[0].dispatch.dispatch_id);
    EXPECT_EQ(pass.dispatch.correlation_id, Passes[0].dispatch.correlation_id);
    EXPECT_EQ(pass.digest, Passes[0].digest);
  }
  // Restored memory is what was saved.
  ASSERT_EQ(Snapshots.size(), 1u);
  ASSERT_EQ(Restores.size(), 2u);
  EXPECT_NE(Snapshots[0].digest, 0u);
  EXPECT_NE(Snapshots[0].digest, Passes[0].digest);
  for (const auto &restore : Restores)
    EXPECT_EQ(restore.digest, Snapshots[0].digest);
  // The dispatch counts once, and so does the next one.
  Runtime->submit(*Queue, {counted()});
  EXPECT_EQ(Passes.back().dispatch.dispatch_id, Passes[0].dispatch.dispatch_id + 1);
  unload();
  EXPECT_NE(log().find(", 2 dispatches: not built with WaveSan"), std::string::npos) << log();
}

TEST_F(ToolReplay, PacketsOfOtherThreadsThatComeAlongEndTheReplay) {
  Runtime->core().hsa_queue_add_write_index_relaxed_fn = [](const hsa_queue_t *, uint64_t) -> uint64_t { return 40; };
  load();
  allocate();
  FakeQueue &other = Runtime->createQueue();
  // Of the places that the callback reserves the packets are its own.
  BehindPass = [&](uint64_t pass) {
    if (pass == 0)
      Runtime->submit(other, {counted()}, Runtime->core().hsa_queue_add_write_index_relaxed_fn(&other.queue, 1));
  };
  Runtime->submit(*Queue, {counted()});
  EXPECT_EQ(Passes.size(), 3u);
  EXPECT_EQ(log().find("window_interrupted"), std::string::npos) << log();
  Passes.clear();
  BehindPass = [&](uint64_t pass) {
    if (pass == 0)
      Runtime->submit(other, {counted()}, 41);
  };
  const uint64_t before = *Data;
  Runtime->submit(*Queue, {counted()});
  EXPECT_EQ(Passes.size(), 1u);
  EXPECT_EQ(*Data, before + 2); // neither is undone
  EXPECT_NE(log().find("stopped after 1 passes (window_interrupted)"), std::string::npos) << log();
}

TEST_F(ToolReplay, MemoryThatIsNotFollowed) {
  load();
  Runtime->amd().hsa_amd_interop_map_buffer_fn(0, nullptr, 0, 0, nullptr, nullptr, nullptr, nullptr);
  expectDeclined("untracked_memory");
}

TEST_F(ToolReplay, WhatIsInFrontInItsQueueDoesNotEnd) {
  load("replay_drain_seconds=1");
  Runtime->holdFences = true;
  expectDeclined("queue_drain_stuck");
}

TEST_F(ToolReplay, WhatIsInAnotherQueueDoesNotEnd) {
  load("replay_drain_seconds=1");
  FakeQueue &other = Runtime->createQueue();
  Runtime->holdFences = true;
  Runtime->submit(other, {counted()}); // declined, too: its own fence
  Declined.clear();
  Executed.clear();
  Runtime->holdFences = false;
  expectDeclined("agent_drain_stuck");
}

TEST_F(ToolReplay, ACopyDoesNotEnd) {
  load("replay_drain_seconds=1");
  AgentWindow &window = Tool::current()->windows.of(kGpuAgent);
  window.copyBegins();
  expectDeclined("agent_drain_stuck");
  window.copyEnds();
}

// What a callback copies or submits is in no map of what the passes write.
TEST_F(ToolReplay, WorkOfCallbacksIsNoticed) {
  Runtime->core().hsa_queue_add_write_index_relaxed_fn = [](const hsa_queue_t *, uint64_t) -> uint64_t { return 40; };
  load("tool=/nowhere"); // with a tool, copies are followed
  allocate();
  FakeQueue &other = Runtime->createQueue();
  std::vector<bool> noticed;
  const auto copies = Runtime->core().hsa_memory_copy_fn;
  BehindPass = [&](uint64_t pass) {
    if (pass == 1) {
      uint64_t value = 1;
      copies(Data + 8, &value, sizeof(value));
    }
    noticed.push_back(workInside());
  };
  Runtime->submit(*Queue, {counted()});
  EXPECT_EQ(noticed, (std::vector<bool>{false, true, true}));
  EXPECT_FALSE(workInside()); // outside of a replay
  noticed.clear();
  BehindPass = [&](uint64_t pass) {
    if (pass == 0)
      Runtime->submit(other, {counted()}, Runtime->core().hsa_queue_add_write_index_relaxed_fn(&other.queue, 1));
    noticed.push_back(workInside());
  };
  Runtime->submit(*Queue, {counted()});
  EXPECT_EQ(noticed, (std::vector<bool>{true, true, true}));
}

TEST_F(ToolReplay, TheSnapshotCannotBeRead) {
  Runtime->core().hsa_memory_copy_fn = [](void *, const void *, size_t) { return HSA_STATUS_ERROR_INVALID_ALLOCATION; };
  load();
  expectDeclined("snapshot_failed");
  EXPECT_NE(log().find("kernel replay: no snapshot for plain(): memory cannot be read"), std::string::npos) << log();
}

TEST_F(ToolReplay, ABudgetThatDoesNotDo) {
  load("replay_budget_mb=1");
  Runtime->allocateMemory(kDevicePool, 1 << 20);
  expectDeclined("footprint_budget");
}

TEST_F(ToolReplay, RangesAreForSubscribers) {
  load();
  wavesan_replay_range_t result{sizeof(result), 9, 9, nullptr};
  const wavesan_replay_api_t &api = replayApi();
  EXPECT_EQ(api.end_range(&result), WAVESAN_REPLAY_ERROR_RANGE);
  ASSERT_EQ(api.begin_range(), WAVESAN_REPLAY_SUCCESS);
  EXPECT_EQ(api.begin_range(), WAVESAN_REPLAY_ERROR_RANGE);
  // An older tool's structure ends earlier, and nothing is written behind it.
  result.size = offsetof(wavesan_replay_range_t, declined);
  ASSERT_EQ(api.end_range(&result), WAVESAN_REPLAY_SUCCESS);
  EXPECT_EQ(result.dispatches, 0u);
  EXPECT_EQ(result.passes, 0u);
  EXPECT_EQ(result.declined, nullptr);
  EXPECT_EQ(result.size, offsetof(wavesan_replay_range_t, declined));
  ReplayService::instance().unsubscribe();
  EXPECT_EQ(api.begin_range(), WAVESAN_REPLAY_ERROR_NOT_SUBSCRIBED);
}
