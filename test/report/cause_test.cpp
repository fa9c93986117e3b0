// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many races stay readable: grouping and the texts made of it.
#include "sample_races.h"

#include "wavesan/report/cause.h"
#include "wavesan/report/text_sink.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace wavesan::report;
using namespace wavesan::test;

namespace {

/// A read in `line` against a write in line 8, of `variable` in kernel k.
Race readOf(uint32_t line, uint64_t occurrences, const std::string &variable = "tile") {
  Race r = race(Order::ReadAfterWrite, access(R, 0, 0, {at(line, 3)}), access(W, 1, 63, {at(8, 13)}));
  r.variable = variable;
  r.occurrences = occurrences;
  return r;
}

/// Three causes: a missing fence on `tile`, 14 races on `tile`, one race in global memory that was seen most often.
std::vector<Race> sample() {
  std::vector<Race> races;
  Race fence = readOf(40, 1000);
  fence.raceClass = wavesan::abi::RaceClass::MissingFence;
  races.push_back(fence);
  races.push_back(globalRace(Order::WriteAfterWrite, access(W, 0, 3, {at(50, 3)}), access(W, 2, 3, {at(50, 3)})));
  races.back().occurrences = 500;
  for (uint32_t i = 0; i < 14; ++i)
    races.push_back(readOf(20 + i, i == 5 ? 9 : 2));
  return races;
}

TextOptions plain() {
  TextOptions options;
  options.sourceExcerpt = false;
  return options;
}

size_t lines(const std::string &text) { return size_t(std::count(text.begin(), text.end(), '\n')); }

} // namespace

TEST(Cause, EveryRaceIsInOneCauseAndTheWorstComesFirst) {
  const std::vector<Race> races = sample();
  const std::vector<Cause> causes = groupByCause(races);
  ASSERT_EQ(causes.size(), 3u);
  EXPECT_EQ(causes[0].races.size(), 14u); // most distinct races of the worst class
  EXPECT_EQ(causes[0].races.front(), 7u); // seen most often
  EXPECT_EQ(causes[0].occurrences, 13u * 2 + 9);
  EXPECT_EQ(causes[1].races, std::vector<size_t>{1});
  EXPECT_EQ(causes[2].races, std::vector<size_t>{0}); // a missing fence, however often it was seen
  std::vector<size_t> all;
  for (const Cause &cause : causes)
    all.insert(all.end(), cause.races.begin(), cause.races.end());
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(all[i], i);
  EXPECT_EQ(all.size(), races.size());
}

TEST(Cause, WarningsComeLast) {
  std::vector<Race> races = sample();
  for (Race &r : races)
    if (r.raceClass == wavesan::abi::RaceClass::Race && r.space == wavesan::abi::RaceSpace::Lds)
      r.severity = Severity::Warning;
  const std::vector<Cause> causes = groupByCause(races);
  ASSERT_EQ(causes.size(), 3u);
  EXPECT_EQ(causes[2].races.size(), 14u);
  EXPECT_NE(causesText(races, plain()).find("  warning: race on `tile`"), std::string::npos);
}

TEST(Cause, TheOrderDoesNotDependOnTheInput) {
  std::vector<Race> races = sample();
  const std::string text = causesText(races, plain());
  std::reverse(races.begin(), races.end());
  EXPECT_EQ(causesText(races, plain()), text);
}

TEST(Cause, KernelVariableAndMissingSynchronisationTellCausesApart) {
  const Race base = readOf(20, 1);
  auto differs = [&](auto change) {
    Race r = base;
    change(r);
    return causeKey(r) != causeKey(base);
  };
  EXPECT_FALSE(differs([](Race &r) { r.current.frames[0].line = 30; }));
  EXPECT_FALSE(differs([](Race &r) { r.ldsFirst = 4; }));
  EXPECT_FALSE(differs([](Race &r) { r.occurrences = 7; }));
  EXPECT_TRUE(differs([](Race &r) { r.kernelMangled = "_Z1mPi"; }));
  EXPECT_TRUE(differs([](Race &r) { r.variable = "other"; }));
  EXPECT_TRUE(differs([](Race &r) { r.situation = Situation::LoopCarried; }));
  EXPECT_TRUE(differs([](Race &r) { r.raceClass = wavesan::abi::RaceClass::MissingFence; }));
  EXPECT_TRUE(differs([](Race &r) { r.current.bits |= A; }));
  EXPECT_TRUE(differs([](Race &r) { r.previous.workgroup[0] = 0; }));
  EXPECT_TRUE(differs([](Race &r) { r.space = wavesan::abi::RaceSpace::Global; }));
}

TEST(GroupedText, CausesInOneLineEach) {
  EXPECT_EQ(causesText(sample(), plain()),
            "wavesan: 16 races of 3 causes, worst first:\n"
            "  race on `tile` in kernel k(int*), no barrier: 14 races, seen 35 times, most often read at app.hip:25:3 "
            "against write at app.hip:8:13\n"
            "  race on `out` in kernel k(int*), no order between workgroups: seen 500 times: write at app.hip:50:3 "
            "against write at app.hip:50:3\n"
            "  missing-fence on `tile` in kernel k(int*), barrier without fence: seen 1000 times: read at app.hip:40:3 "
            "against write at app.hip:8:13\n");
  EXPECT_EQ(causesText({}, plain()), "");
}

TEST(GroupedText, FirstCausesInFullAndTheRestInOneLineEach) {
  TextOptions options = plain();
  options.fullReports = 1;
  EXPECT_EQ(
      groupedText(sample(), options),
      "wavesan: race: LDS write-read (read after write) on `tile`, 4 bytes at tile+252 (LDS bytes 508..511)\n"
      "  kernel k(int*), dispatch 3, workgroup (1,0,0), wave size 64\n"
      "  read  of 4 bytes by wave 0 lane 0  at app.hip:25:3 in k\n"
      "  write of 4 bytes by wave 1 lane 63 at app.hip:8:13 in k\n"
      "  no barrier between them: waves 0 and 1 may execute these in either order\n"
      "  fix: put __syncthreads() between line 8 and line 25\n"
      "  seen 9 times\n"
      "  13 more races of this cause:\n"
      "    read at app.hip:20:3 against write at app.hip:8:13, seen 2 times\n"
      "    read at app.hip:21:3 against write at app.hip:8:13, seen 2 times\n"
      "    read at app.hip:22:3 against write at app.hip:8:13, seen 2 times\n"
      "    read at app.hip:23:3 against write at app.hip:8:13, seen 2 times\n"
      "    read at app.hip:24:3 against write at app.hip:8:13, seen 2 times\n"
      "    read at app.hip:26:3 against write at app.hip:8:13, seen 2 times\n"
      "    read at app.hip:27:3 against write at app.hip:8:13, seen 2 times\n"
      "    read at app.hip:28:3 against write at app.hip:8:13, seen 2 times\n"
      "    read at app.hip:29:3 against write at app.hip:8:13, seen 2 times\n"
      "    read at app.hip:30:3 against write at app.hip:8:13, seen 2 times\n"
      "    and 3 more\n"
      "wavesan: 2 further causes:\n"
      "  race on `out` in kernel k(int*), no order between workgroups: seen 500 times: write at app.hip:50:3 against "
      "write at app.hip:50:3\n"
      "  missing-fence on `tile` in kernel k(int*), barrier without fence: seen 1000 times: read at app.hip:40:3 "
      "against write at app.hip:8:13\n"
      "wavesan: 16 races of 3 causes, worst first\n");
}

TEST(GroupedText, AThousandRacesStayReadable) {
  std::vector<Race> races;
  for (uint32_t i = 0; i < 1000; ++i)
    races.push_back(readOf(100 + i, 1, "v" + std::to_string(i % 12)));
  const std::string text = groupedText(races, plain());
  EXPECT_LT(lines(text), 260u);
  EXPECT_NE(text.find("wavesan: 1000 races of 12 causes, worst first\n"), std::string::npos) << text;

  std::string live;
  TextSink sink(
      [&](std::string_view s) {
        live += s;
        return std::string();
      },
      plain());
  for (const Race &r : races)
    sink.onRace(r);
  Summary summary;
  summary.checkedAccesses = 1;
  summary.races = races.size();
  sink.onSummary(summary);
  EXPECT_LT(lines(live), 200u);
  EXPECT_NE(
      live.find("wavesan: 1000 races of 12 causes, worst first:\n  race on `v0` in kernel k(int*), no barrier: 84 "
                "races, seen 84 times"),
      std::string::npos)
      << live;
  EXPECT_TRUE(live.ends_with("wavesan: checked 1 accesses in 0 kernels: 1000 races\n")) << live;
}

TEST(TextSink, OneCauseDoesNotTakeTheRoomOfTheOthers) {
  std::string live;
  TextSink sink(
      [&](std::string_view s) {
        live += s;
        return std::string();
      },
      plain());
  for (uint32_t i = 0; i < 30; ++i)
    sink.onRace(readOf(100 + i, 1));
  sink.onRace(readOf(50, 1, "other"));
  EXPECT_NE(live.find("on `other`"), std::string::npos) << live;
  EXPECT_EQ(lines(live), (TextSink::kMaxFullPerCause + 1) * 7);
}

TEST(TextSink, FailedWritesAreSaidAtTheSummary) {
  TextSink sink([](std::string_view) { return std::string("disk full"); }, plain());
  sink.onMessage("x");
  EXPECT_EQ(sink.onSummary(Summary{}), "disk full");
}
