// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From records of divergences to reports.
#include "shared_page.h"
#include "tool_fixture.h"

namespace wavesan::test {

namespace {
abi::RaceRecord earlyExit() {
  abi::RaceRecord r{};
  r.key = abi::raceKey(abi::kNoSite, kBarrierSite, abi::RaceClass::EarlyExit);
  r.count = 3;
  r.ready = 1;
  r.raceClass = uint32_t(abi::RaceClass::EarlyExit);
  r.space = uint32_t(abi::RaceSpace::None);
  r.previous = {kBarrierSite, 0, 0, 0};
  r.current = {abi::kNoSite, 1, 4, 0};
  abi::setDivergence(r, {{1, 2}, {~uint64_t(0), ~uint64_t(0xf)}, 9, 7, 0, false, false, false});
  return r;
}
} // namespace

TEST_F(ToolTest, AnEarlyExitNamesTheBarrierAndTheBranch) {
  load();
  DispatchPacket original = packet(), twin = submit(original);
  putRace(twin, earlyExit());
  finishDispatch(twin, original.completion_signal);
  unload();
  EXPECT_NE(
      log().find("wavesan: early-exit: work-items end while others of their workgroup wait at a barrier\n"
                 "  kernel k(int*), dispatch 1, workgroup (0,0,0), wave size 64\n"
                 "  wave 0 waits at app.hip:15:3 in k(int*)\n"
                 "  wave 1 (lanes 4..63) ends without it; the branch that decides is at app.hip:9:7 in k(int*)\n"),
      std::string::npos)
      << log();
  EXPECT_NE(log().find("  seen 3 times\n"), std::string::npos) << log();
  EXPECT_NE(lastLine().find("1 races"), std::string::npos) << log();
}

TEST_F(ToolTest, TheSameDivergenceIsReportedOnce) {
  load();
  for (int i = 0; i < 2; ++i) {
    DispatchPacket original = packet(), twin = submit(original);
    putRace(twin, earlyExit());
    finishDispatch(twin, original.completion_signal);
  }
  unload();
  EXPECT_NE(lastLine().find("1 races"), std::string::npos) << log();
}

TEST_F(ToolTest, TheSeverityOfAnEarlyExitIsAChoice) {
  SharedPage shared;
  load("early_exit=warning");
  DispatchPacket original = packet(), twin = submit(original);
  putRace(twin, earlyExit());
  finishDispatch(twin, original.completion_signal);
  unload();
  EXPECT_EQ(shared.page->races.load(), 0u);
  EXPECT_NE(log().find("wavesan: warning: early-exit: work-items end"), std::string::npos) << log();
  EXPECT_NE(lastLine().find("0 races, 1 warnings"), std::string::npos) << log();
}

TEST_F(ToolTest, AnEarlyExitIsCountedWhenItIsOff) {
  SharedPage shared;
  load("early_exit=off");
  DispatchPacket original = packet(), twin = submit(original);
  putRace(twin, earlyExit());
  finishDispatch(twin, original.completion_signal);
  unload();
  EXPECT_EQ(shared.page->races.load(), 0u);
  EXPECT_EQ(log().find("wavesan: early-exit"), std::string::npos) << log();
  EXPECT_NE(log().find("1 race suppressed by option early_exit=off"), std::string::npos) << log();
}

TEST_F(ToolTest, WarningsBeyondTheLimitAreCounted) {
  load("early_exit=warning:max_reports=1");
  DispatchPacket original = packet(), twin = submit(original);
  putRace(twin, earlyExit());
  putRace(twin, record(kLoadSite, 0, kStoreSite, 1));
  finishDispatch(twin, original.completion_signal);
  unload();
  EXPECT_NE(lastLine().find("1 races, 1 warnings"), std::string::npos) << log();
  EXPECT_NE(log().find("1 further warning not printed (option max_reports)"), std::string::npos) << log();
}

TEST_F(ToolTest, DamagedDivergencesAreCounted) {
  load();
  DispatchPacket original = packet(), twin = submit(original);
  std::vector<abi::RaceRecord> bad(5, earlyExit());
  bad[0].previous.site = kLoadSite;   // no barrier
  bad[1].current.site = kBarrierSite; // an end has no site
  bad[2].current.wave = 5;            // not in its mask
  bad[3].space = uint32_t(abi::RaceSpace::Lds);
  bad[4].current.lane = 2; // not in its mask
  for (size_t i = 0; i < bad.size(); ++i) {
    bad[i].key += i << 32;
    putRace(twin, bad[i]);
  }
  finishDispatch(twin, original.completion_signal);
  unload();
  EXPECT_NE(log().find("5 race records damaged"), std::string::npos) << log();
  EXPECT_NE(lastLine().find("0 races"), std::string::npos) << log();
}

} // namespace wavesan::test
