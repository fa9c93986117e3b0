// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of a dispatch packet.
#include "tool_fixture.h"

#include "tool.h"

#include <cstring>
#include <thread>

namespace wavesan::test {

namespace {
constexpr uint32_t kState = abi::workgroupStateBytes(2); // of the fixture's 128 work-items in waves of 64
}

TEST_F(ToolTest, PacketOfTheTwin) {
  load();
  EXPECT_TRUE(Queue->intercepted);
  EXPECT_TRUE(Queue->profiling);
  DispatchPacket original = packet(kOriginalObject, 64);
  DispatchPacket twin = submit(original);
  EXPECT_EQ(twin.kernel_object, kTwinObject);
  EXPECT_EQ(twin.private_segment_size, 48u);
  EXPECT_EQ(twin.group_segment_size, kStaticLds + 64 + kState + (kStaticLds + 64) / 4 * abi::kCellBytes);
  EXPECT_EQ(twin.grid_size_x, 1024u);
  EXPECT_EQ(twin.workgroup_size_x, 128u);
  EXPECT_EQ(twin.setup, original.setup);
  // Barrier bit and type as they were, both fences at system scope.
  EXPECT_EQ(twin.header, original.header | 2 << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                             2 << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
  EXPECT_NE(twin.completion_signal.handle, original.completion_signal.handle);
  EXPECT_EQ(Runtime->signalValue(twin.completion_signal), 1);

  const auto *block = static_cast<const uint8_t *>(twin.kernarg_address);
  EXPECT_EQ(std::memcmp(block, Kernarg.data(), 17), 0);
  EXPECT_EQ(std::memcmp(block + 32, Kernarg.data() + 24, 56), 0);

  const abi::DispatchContext &c = context(twin);
  EXPECT_EQ(c.magic, abi::kContextMagic);
  EXPECT_EQ(c.abiVersion, abi::kAbiVersion);
  EXPECT_EQ(c.dispatchId, 1u);
  EXPECT_EQ(c.slotPool, 0u);
  EXPECT_EQ(c.slotCount, 0u);
  EXPECT_EQ(c.ldsStateOffset, kStaticLds + 64);
  EXPECT_EQ(c.ldsBytes, kStaticLds + 64);
  EXPECT_EQ(c.granuleLog2, 2u);
  EXPECT_EQ(c.waveSize, 64u);
  EXPECT_EQ(c.wavesPerWorkgroup, 2u);
  EXPECT_EQ(c.workgroupSize[0], 128u);
  EXPECT_EQ(c.gridSize[0], 1024u);
  EXPECT_EQ(c.gridSize[1], 1u);
  EXPECT_EQ(reinterpret_cast<uint64_t>(&c) % 64, 0u);
  const auto *table = reinterpret_cast<const abi::RaceTable *>(c.raceTable);
  EXPECT_EQ(table->capacity, 1024u);
  EXPECT_EQ(table->used, 0u);
  for (size_t i = 0; i < table->capacity; ++i)
    ASSERT_EQ(reinterpret_cast<const abi::RaceRecord *>(table + 1)[i].key, 0u);
  EXPECT_EQ(counters(twin).checkedAccesses, 0u);
  EXPECT_EQ(Runtime->poolsUsed, (std::set<uint64_t>{kKernargPool, kFinePool, kDevicePool}));
  for (auto &[address, size] : Runtime->Memory)
    EXPECT_EQ(Runtime->AccessibleTo[reinterpret_cast<uint64_t>(address)], "2;");
  finishDispatch(twin, original.completion_signal);
}

TEST_F(ToolTest, CompletionIsForwardedAfterTheDrainWithItsTimeStamps) {
  load();
  DispatchPacket original = packet();
  original.completion_signal = Runtime->createSignal(3); // shared by several packets
  DispatchPacket twin = submit(original);
  counters(twin).checkedAccesses = 40;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(Runtime->signalValue(original.completion_signal), 3);
  Runtime->complete(twin, 0, 1234, 5678);
  waitFor([&] { return Runtime->signalValue(original.completion_signal) == 2; });
  auto *signal = reinterpret_cast<amd_signal_t *>(original.completion_signal.handle);
  EXPECT_EQ(signal->start_ts, 1234u);
  EXPECT_EQ(signal->end_ts, 5678u);
  unload();
  EXPECT_EQ(lastLine(), "wavesan: checked 40 accesses in 1 kernels: 0 races");
}

TEST_F(ToolTest, FailureIsForwardedAsAFailure) {
  load();
  DispatchPacket original = packet(), twin = submit(original);
  Runtime->complete(twin, -1);
  waitFor([&] { return Runtime->signalValue(original.completion_signal) == -1; });
  unload();
  EXPECT_NE(log().find("wavesan: 1 dispatch failed: checked only up to the failure\n"), std::string::npos) << log();
}

TEST_F(ToolTest, PacketWithoutCompletionSignalIsDrainedToo) {
  load();
  DispatchPacket original = packet();
  original.completion_signal = {};
  DispatchPacket twin = submit(original);
  ASSERT_NE(twin.completion_signal.handle, 0u);
  putRace(twin, record(kLoadSite, 0, kStoreSite, 1));
  Runtime->complete(twin);
  waitFor([&] { return log().find("race: LDS") != std::string::npos; });
}

TEST_F(ToolTest, ResourcesAreRecycled) {
  load();
  uint64_t allocations = 0, signals = 0;
  for (int i = 0; i < 50; ++i) {
    DispatchPacket original = packet(), twin = submit(original);
    ASSERT_EQ(counters(twin).checkedAccesses, 0u) << "counters of an earlier dispatch";
    ASSERT_EQ(reinterpret_cast<abi::RaceTable *>(context(twin).raceTable)->used, 0u);
    counters(twin).checkedAccesses = 1;
    putRace(twin, record(kLoadSite, 0, kStoreSite, 1));
    finishDispatch(twin, original.completion_signal);
    // The signal is the program's last sight of the dispatch; the buffers come back right after it.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (i == 9) {
      allocations = Runtime->allocations;
      signals = Runtime->signalsCreated;
    }
  }
  EXPECT_LE(Runtime->allocations, allocations + 2); // a late return or two
  EXPECT_LE(Runtime->signalsCreated, signals + 40 /* the program's */ + 1);
  unload();
  EXPECT_EQ(lastLine(), "wavesan: checked 50 accesses in 1 kernels: 1 races");
  EXPECT_NE(log().find("wavesan: 49 more conflicts of the races above after their report\n"), std::string::npos)
      << log();
}

TEST_F(ToolTest, ScratchSurplusOfThePacketIsKept) {
  load();
  DispatchPacket original = packet();
  original.private_segment_size = 16 + 1000; // a stack for recursion
  DispatchPacket twin = submit(original);
  EXPECT_EQ(twin.private_segment_size, 48u + 1000u);
  finishDispatch(twin, original.completion_signal);
}

TEST_F(ToolTest, KernelsWithoutTwinRunUnchanged) {
  load();
  for (uint64_t object : {kPlainObject, kPlainObject, kBlitObject, uint64_t(0x9999)}) {
    DispatchPacket original = packet(object), written = submit(original);
    EXPECT_EQ(std::memcmp(&written, &original, sizeof(written)), 0);
  }
  unload();
  EXPECT_EQ(log(), "wavesan: not checked: kernel plain(), 2 dispatches: not built with WaveSan\n"
                   "wavesan: not checked: kernel of unknown name, 1 dispatch: not built with WaveSan\n"
                   "wavesan: nothing was checked: no kernel that ran was built with WaveSan (build with `wavesan cc`)\n"
                   "wavesan: checked 0 accesses in 0 kernels: 0 races\n");
}

TEST_F(ToolTest, OtherPacketsAndBatchesPassInOrder) {
  load();
  DispatchPacket barrier{};
  barrier.header = HSA_PACKET_TYPE_BARRIER_AND;
  barrier.kernel_object = kOriginalObject; // where a barrier packet has a dependency signal
  DispatchPacket first = packet(), last = packet(kPlainObject);
  auto written = Runtime->submit(*Queue, {first, barrier, last});
  ASSERT_EQ(written.size(), 4u); // the second one is the tool's, see WhatFollowsADispatchWaitsForItsDrain
  EXPECT_EQ(written[0].kernel_object, kTwinObject);
  EXPECT_EQ(std::memcmp(&written[2], &barrier, sizeof(barrier)), 0);
  EXPECT_EQ(std::memcmp(&written[3], &last, sizeof(last)), 0);
  finishDispatch(written[0], first.completion_signal);
}

TEST_F(ToolTest, WhatFollowsADispatchWaitsForItsDrain) {
  load();
  DispatchPacket original = packet();
  auto written = Runtime->submit(*Queue, {original});
  ASSERT_EQ(written.size(), 2u);
  hsa_barrier_and_packet_t behind;
  std::memcpy(&behind, &written[1], sizeof(behind));
  EXPECT_EQ(behind.header >> HSA_PACKET_HEADER_TYPE & 0xff, HSA_PACKET_TYPE_BARRIER_AND);
  EXPECT_EQ(Runtime->signalValue(behind.dep_signal[0]), 1);
  EXPECT_EQ(Runtime->signalValue(behind.completion_signal), 1);
  putRace(written[0], record(kLoadSite, 0, kStoreSite, 1));
  finishDispatch(written[0], original.completion_signal);
  waitFor([&] { return Runtime->signalValue(behind.completion_signal) == 0; });
  EXPECT_NE(log().find("race: LDS"), std::string::npos); // what follows sees a finished report
}

TEST_F(ToolTest, FullLdsRunsTheOriginal) {
  load();
  DispatchPacket original = packet(kOriginalObject, 65536 - kStaticLds), written = submit(original);
  EXPECT_EQ(std::memcmp(&written, &original, sizeof(written)), 0);
  unload();
  EXPECT_NE(log().find("wavesan: not checked: kernel k(int*), 1 dispatch: uses 65536 of 65536 bytes of LDS, the check "
                       "needs " +
                       std::to_string(kState) + " of its own\n"),
            std::string::npos)
      << log();
  EXPECT_NE(log().find("wavesan: nothing was checked: see the reasons above\n"), std::string::npos) << log();
}

TEST_F(ToolTest, LargeLdsHasItsCellsInASlotPool) {
  load();
  DispatchPacket original = packet(kOriginalObject, 16384 - kStaticLds), twin = submit(original);
  EXPECT_EQ(twin.group_segment_size, 16384 + kState);
  const abi::DispatchContext &c = context(twin);
  EXPECT_EQ(c.ldsStateOffset, 16384u);
  EXPECT_EQ(c.slotBytes, abi::shadowBytes(16384, 2));
  EXPECT_EQ(c.slotCount, 8u); // the workgroups of the dispatch; 16 could be resident
  ASSERT_NE(c.slotPool, 0u);
  EXPECT_TRUE(Runtime->poolsUsed.count(kDevicePool));
  const auto *locks = reinterpret_cast<const uint32_t *>(c.slotLocks);
  for (uint32_t i = 0; i < c.slotCount; ++i)
    EXPECT_EQ(locks[i], 0u);
  // The whole pool is there.
  std::memset(reinterpret_cast<void *>(c.slotPool), 1, size_t(c.slotCount) * c.slotBytes);
  finishDispatch(twin, original.completion_signal);
}

TEST_F(ToolTest, CooperativeQueuesGetASlotPoolEvenForSmallLds) {
  load();
  FakeQueue &queue = Runtime->createQueue(HSA_QUEUE_TYPE_COOPERATIVE);
  DispatchPacket original = packet(), twin = Runtime->submit(queue, {original}).at(0);
  EXPECT_EQ(twin.group_segment_size, kStaticLds + kState);
  EXPECT_NE(context(twin).slotPool, 0u);
  finishDispatch(twin, original.completion_signal);
}

TEST_F(ToolTest, OutOfMemoryRunsTheOriginal) {
  load();
  for (int failing = 1; failing <= 2; ++failing) {
    Runtime->failAllocations = failing;
    DispatchPacket original = packet(), written = submit(original);
    EXPECT_EQ(std::memcmp(&written, &original, sizeof(written)), 0);
    Runtime->failAllocations = 0;
  }
  DispatchPacket original = packet(), twin = submit(original);
  EXPECT_EQ(twin.kernel_object, kTwinObject);
  finishDispatch(twin, original.completion_signal);
  unload();
  EXPECT_NE(log().find("wavesan: not checked: kernel k(int*), 2 dispatches: cannot allocate"), std::string::npos)
      << log();
}

TEST_F(ToolTest, MissingKernelArgumentsAndPoolsAreReasons) {
  load();
  DispatchPacket original = packet();
  original.kernarg_address = nullptr;
  EXPECT_EQ(submit(original).kernel_object, kOriginalObject);
  unload();
  EXPECT_NE(log().find("1 dispatch: the packet has no kernel arguments\n"), std::string::npos) << log();

  Runtime = std::make_unique<FakeRuntime>();
  Runtime->havePools = false;
  load();
  EXPECT_EQ(submit(packet()).kernel_object, kOriginalObject);
  unload();
  EXPECT_NE(log().find("1 dispatch: no fine-grained host memory pool\n"), std::string::npos) << log();
}

TEST_F(ToolTest, WindowsKnowOfDispatchesBeforeTheFirstSubscription) {
  load();
  hsa::Tool &tool = *hsa::Tool::current();
  const auto idle = [&] {
    return tool.windows.of(kGpuAgent).waitOthers(tool.api, nullptr, std::chrono::steady_clock::now());
  };
  EXPECT_TRUE(idle());
  submit(packet()); // checked: the drain waits for it
  EXPECT_TRUE(idle());
  EXPECT_FALSE(tool.drain.waitIdle(0, std::chrono::milliseconds(1)));
  submit(packet(kPlainObject));
  EXPECT_FALSE(idle());
}

TEST_F(ToolTest, DestroyedExecutableForgetsItsKernels) {
  load();
  Runtime->core().hsa_executable_destroy_fn(Executable);
  DispatchPacket original = packet();
  EXPECT_EQ(submit(original).kernel_object, kOriginalObject);
}

TEST_F(ToolTest, KernelWhoseTwinIsNotInTheExecutable) {
  load();
  auto symbols = sampleSymbols();
  symbols.erase(symbols.begin() + 1);
  Runtime->core().hsa_executable_destroy_fn(Executable);
  Runtime->loadExecutable(sampleCodeObject(), symbols);
  EXPECT_EQ(submit(packet()).kernel_object, kOriginalObject);
  unload();
  EXPECT_NE(log().find("kernel k(int*), 1 dispatch: the loaded executable lacks _Z1kPi.wavesan\n"), std::string::npos)
      << log();
}

TEST_F(ToolTest, ManyThreadsAndQueues) {
  load();
  constexpr int kThreads = 4, kDispatches = 300;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      FakeQueue &queue = Runtime->createQueue();
      std::vector<std::pair<DispatchPacket, hsa_signal_t>> flying;
      for (int i = 0; i < kDispatches; ++i) {
        DispatchPacket original = packet(kOriginalObject, i % 3 ? 0 : 16384);
        DispatchPacket twin = Runtime->submit(queue, {original}).at(0);
        counters(twin).checkedAccesses = 1;
        putRace(twin, record(i % 2 ? kLoadSite : kUnrolledLoadSite, 0, kStoreSite, 1));
        flying.push_back({twin, original.completion_signal});
        if (i % 7 == 6) { // complete out of order
          for (auto it = flying.rbegin(); it != flying.rend(); ++it)
            Runtime->complete(it->first);
          for (auto &[p, signal] : flying)
            waitFor([&, s = signal] { return Runtime->signalValue(s) == 0; });
          flying.clear();
        }
      }
      for (auto &[p, signal] : flying)
        finishDispatch(p, signal);
      Runtime->core().hsa_queue_destroy_fn(&queue.queue);
    });
  for (std::thread &t : threads)
    t.join();
  unload();
  EXPECT_EQ(lastLine(), "wavesan: checked 1200 accesses in 1 kernels: 1 races");
  EXPECT_NE(log().find("wavesan: 1199 more conflicts"), std::string::npos) << log();
}

} // namespace wavesan::test
