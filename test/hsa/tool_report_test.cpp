// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From race records to reports.
#include "tool_fixture.h"

namespace wavesan::test {

namespace {
size_t count(const std::string &text, const std::string &what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++n;
  return n;
}
} // namespace

TEST_F(ToolTest, ReportsARaceOnce) {
  load();
  for (int i = 0; i < 2; ++i) {
    DispatchPacket original = packet(), twin = submit(original);
    counters(twin).checkedAccesses = 100;
    abi::RaceRecord r = record(kLoadSite, 0, kStoreSite, 1);
    r.count = 128;
    putRace(twin, r);
    finishDispatch(twin, original.completion_signal);
  }
  unload();
  EXPECT_EQ(log(),
            "wavesan: race: LDS write-read (read after write) on `tile`, 4 bytes at tile+508 (LDS bytes 508..511)\n"
            "  kernel k(int*), dispatch 1, workgroup (0,0,0), wave size 64\n"
            "  read  of 4 bytes by wave 0 lane 0  at app.hip:11:14 in k(int*)\n"
            "  write of 4 bytes by wave 1 lane 63 at app.hip:8:13 in k(int*)\n"
            "  no barrier between them: waves 0 and 1 may execute these in either order\n"
            "  fix: put __syncthreads() between line 8 and line 11\n"
            "  seen 128 times\n"
            "wavesan: not checked: 3 places in the kernels: global memory\n"
            "wavesan: 128 more conflicts of the races above after their report\n"
            "wavesan: checked 200 accesses in 1 kernels: 1 races\n");
}

TEST_F(ToolTest, SamePositionsAreOneRaceInWhateverOrderAndSite) {
  load();
  DispatchPacket original = packet(), twin = submit(original);
  abi::RaceRecord later = record(kLoadSite, 1, kStoreSite, 0), first = record(kStoreSite, 1, kUnrolledLoadSite, 0);
  later.workgroup[0] = 7;
  putRace(twin, later);
  putRace(twin, first);
  finishDispatch(twin, original.completion_signal);
  unload();
  EXPECT_EQ(count(log(), "wavesan: race:"), 1u);
  // The order in which the program's lines stand speaks, although the other was seen in a lower workgroup.
  EXPECT_NE(log().find("LDS write-read (read after write)"), std::string::npos) << log();
  EXPECT_NE(log().find("workgroup (7,0,0)"), std::string::npos) << log();
  EXPECT_NE(log().find("  seen 2 times, in both orders\n"), std::string::npos) << log();
  EXPECT_EQ(lastLine(), "wavesan: checked 0 accesses in 1 kernels: 1 races");
}

TEST_F(ToolTest, TheRecordOfTheLowestWorkgroupSpeaks) {
  load();
  DispatchPacket original = packet(), twin = submit(original);
  abi::RaceRecord later = record(kLoadSite, 1, kStoreSite, 0), first = record(kUnrolledLoadSite, 1, kStoreSite, 0);
  later.workgroup[0] = 7;
  later.count = 3;
  putRace(twin, later);
  putRace(twin, first);
  finishDispatch(twin, original.completion_signal);
  unload();
  EXPECT_NE(log().find("workgroup (0,0,0)"), std::string::npos) << log();
  EXPECT_NE(log().find("  seen 4 times\n"), std::string::npos) << log();
}

// A barrier would not do where the accesses race between workgroups, too, whichever record comes first.
TEST_F(ToolTest, WhatRacesWithinAndBetweenWorkgroupsIsShownBetween) {
  load();
  DispatchPacket original = packet(), twin = submit(original);
  static char memory[64];
  abi::RaceRecord between = globalRecord(memory, kLoadSite, kStoreSite), within = between, otherWay = within;
  std::fill_n(within.workgroup, 3, 0);
  std::fill_n(within.previousWorkgroup, 3, 0);
  std::fill_n(between.previousWorkgroup, 3, 0);
  between.workgroup[0] = 9;
  between.key = abi::raceKey(kLoadSite, kStoreSite, abi::RaceClass::Race, true);
  otherWay = within;
  std::swap(otherWay.current, otherWay.previous);
  otherWay.key = abi::raceKey(kStoreSite, kLoadSite, abi::RaceClass::Race);
  for (const abi::RaceRecord &r : {within, between, otherWay})
    putRace(twin, r);
  finishDispatch(twin, original.completion_signal);
  unload();
  EXPECT_EQ(count(log(), "wavesan: race:"), 1u);
  EXPECT_NE(log().find("workgroups (0,0,0) and (9,0,0) may execute these in either order"), std::string::npos) << log();
  EXPECT_EQ(log().find("put __syncthreads()"), std::string::npos) << log();
  EXPECT_NE(log().find("  seen 3 times"), std::string::npos) << log();
}

TEST_F(ToolTest, ABarrierBetweenTheLinesMeansALoop) {
  load();
  DispatchPacket original = packet(), twin = submit(original);
  putRace(twin, record(kStoreSite, 1, kLateStoreSite, 0)); // line 8 after line 20, barrier in line 15
  finishDispatch(twin, original.completion_signal);
  unload();
  EXPECT_NE(
      log().find("fix: add __syncthreads() at the end of the loop body: after line 20 and before line 8 of the next "
                 "iteration\n"),
      std::string::npos)
      << log();
}

TEST_F(ToolTest, ABarrierBetweenTheLinesOutsideOfTheLoopIsSkipped) {
  load();
  DispatchPacket original = packet(), twin = submit(original);
  putRace(twin, record(kAtomicSite, 1, kStoreSite, 0)); // line 22 after line 8, barrier in line 15, loop up to line 20
  finishDispatch(twin, original.completion_signal);
  unload();
  EXPECT_NE(log().find("fix: let every work-item execute a barrier between line 8 and line 22"), std::string::npos) << log();
}

TEST_F(ToolTest, ClassesAreDifferentRaces) {
  load();
  DispatchPacket original = packet(), twin = submit(original);
  abi::RaceRecord fence = record(kLoadSite, 0, kStoreSite, 1);
  fence.raceClass = uint32_t(abi::RaceClass::MissingFence);
  fence.key = abi::raceKey(kLoadSite, kStoreSite, abi::RaceClass::MissingFence);
  putRace(twin, fence);
  putRace(twin, record(kLoadSite, 0, kStoreSite, 1));
  finishDispatch(twin, original.completion_signal);
  unload();
  EXPECT_EQ(count(log(), "wavesan: race:"), 1u);
  EXPECT_EQ(count(log(), "wavesan: missing-fence:"), 1u);
  EXPECT_EQ(lastLine(), "wavesan: checked 0 accesses in 1 kernels: 2 races");
}

TEST_F(ToolTest, MaxReportsLimitsThePrintingAndNotTheCount) {
  load("max_reports=1");
  DispatchPacket original = packet(), twin = submit(original);
  putRace(twin, record(kLoadSite, 0, kStoreSite, 1));
  putRace(twin, record(kStoreSite, 0, kStoreSite, 1));
  finishDispatch(twin, original.completion_signal);
  unload();
  EXPECT_EQ(count(log(), "wavesan: race:"), 1u);
  EXPECT_NE(log().find("wavesan: 1 further race not printed (option max_reports)\n"), std::string::npos) << log();
  EXPECT_EQ(lastLine(), "wavesan: checked 0 accesses in 1 kernels: 2 races");
}

TEST_F(ToolTest, DamagedRecordsAreCountedAndNotPrinted) {
  load();
  DispatchPacket original = packet(), twin = submit(original);
  auto damaged = [&](auto change) {
    abi::RaceRecord r = record(kLoadSite, 0, kStoreSite, 1);
    change(r);
    putRace(twin, r);
  };
  damaged([](abi::RaceRecord &r) { r.current.site = 6; });
  damaged([](abi::RaceRecord &r) { r.previous.site = 0xffffffffu; });
  damaged([](abi::RaceRecord &r) { r.previous.site = kBarrierSite; });
  damaged([](abi::RaceRecord &r) { r.current.lane = 64; });
  damaged([](abi::RaceRecord &r) { r.previous.wave = 32; });
  damaged([](abi::RaceRecord &r) { r.raceClass = 9; });
  damaged([](abi::RaceRecord &r) { r.ready = 0; });
  damaged([](abi::RaceRecord &r) { r.count = 0; });
  damaged([](abi::RaceRecord &r) { r.size = 0; });
  damaged([](abi::RaceRecord &r) { r.current.access = 0; });
  damaged([](abi::RaceRecord &r) { r.space = 2; });
  damaged([](abi::RaceRecord &r) { r.address = 1ull << 32; });
  damaged([](abi::RaceRecord &r) { r.neededScope = 6; });
  damaged([](abi::RaceRecord &r) { r.previous.lane = abi::kUnknownLane; }); // LDS cells know the lane
  finishDispatch(twin, original.completion_signal);
  unload();
  EXPECT_EQ(count(log(), "wavesan: race:"), 0u) << log();
  EXPECT_NE(log().find("wavesan: 14 race records damaged: not printed\n"), std::string::npos) << log();
}

TEST_F(ToolTest, LossesOfTheDeviceAreSummedUp) {
  load();
  for (int i = 0; i < 2; ++i) {
    DispatchPacket original = packet(), twin = submit(original);
    counters(twin) = {.checkedAccesses = 10,
                      .racesSeen = 0,
                      .racesDropped = 1,
                      .historyOverflow = 2,
                      .generationOverflow = 3,
                      .outsideShadow = 4,
                      .globalAccesses = 5,
                      .orderUnknown = 6,
                      .checkedSpaces = 0,
                      .waitsUnknown = 7,
                      .outsideBudget = 0,
                      .lanesUnchecked = 0,
                      .reserved = {}};
    finishDispatch(twin, original.completion_signal);
  }
  unload();
  std::string text = log();
  EXPECT_NE(text.find("wavesan: 2 conflicts dropped"), std::string::npos) << text;
  EXPECT_NE(text.find("wavesan: 4 accesses not kept"), std::string::npos) << text;
  EXPECT_NE(text.find("wavesan: 6 accesses not recorded"), std::string::npos) << text;
  EXPECT_NE(text.find("wavesan: 8 LDS accesses not checked"), std::string::npos) << text;
  EXPECT_NE(text.find("wavesan: 12 atomic operations not followed"), std::string::npos) << text;
  EXPECT_NE(text.find("wavesan: 14 asynchronous copies waited for"), std::string::npos) << text;
  EXPECT_EQ(lastLine(), "wavesan: checked 20 accesses in 1 kernels: 0 races");
}

} // namespace wavesan::test
