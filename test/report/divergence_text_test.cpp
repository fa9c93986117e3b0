// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Divergences and clashing lanes, as text and through the JSON format and back.
#include "sample_races.h"

#include "wavesan/report/divergence.h"
#include "wavesan/report/document.h"
#include "wavesan/report/document_reader.h"
#include "wavesan/report/text_sink.h"

#include <gtest/gtest.h>

namespace wavesan::test {
namespace {

using report::Race;

report::TextOptions plain() {
  report::TextOptions options;
  options.sourceExcerpt = false;
  return options;
}

std::vector<report::Frame> barrierAt(uint32_t line) {
  return {at(910, 3, "__syncthreads()", "/usr/include/hip/amd_detail/amd_device_functions.h"), at(line, 5)};
}

Race divergence(bool ends) {
  Race r;
  r.raceClass = ends ? abi::RaceClass::EarlyExit : abi::RaceClass::BarrierDivergence;
  r.space = abi::RaceSpace::None;
  r.order = report::Order::WriteAfterWrite;
  r.kernel = "k(int*)";
  r.kernelMangled = "_Z1kPi";
  r.dispatch = 3;
  r.previous = access(0, 0, 0, barrierAt(30));
  r.previous.sizeBytes = 0;
  r.previous.opcode = "barrier";
  r.current = access(0, 1, 24, ends ? std::vector<report::Frame>{at(20, 9)} : barrierAt(35));
  r.current.sizeBytes = 0;
  r.current.opcode = ends ? "end of kernel" : "barrier";
  r.current.epoch = r.previous.epoch = 2;
  r.divergence.emplace();
  r.divergence->currentEnds = ends;
  r.divergence->previousWaves = 3;
  r.divergence->previousLanes = ~uint64_t(0);
  r.divergence->currentWaves = 2;
  r.divergence->currentLanes = ~uint64_t(0) << 24;
  r.divergence->branch = {at(20, 9)};
  return r;
}

TEST(DivergenceText, EarlyExit) {
  EXPECT_EQ(report::raceText(divergence(true), plain()),
            R"(wavesan: early-exit: work-items end while others of their workgroup wait at a barrier
  kernel k(int*), dispatch 3, workgroup (0,0,0), wave size 64
  waves 0..1 wait at app.hip:30:5 in k
  wave 1 (lanes 24..63) ends without it; the branch that decides is at app.hip:20:9 in k
  a barrier needs every work-item of the workgroup: after 2 barriers that all of them passed, wave 1 (lanes 24..63) has ended without reaching this one
  the hardware lets a barrier open without waves that have ended, so this may seem to work; the language does not promise it
  fix: let every work-item reach the barrier in line 30: do not leave at line 20, put the work under an `if` instead; or move the barrier out of the branch
  seen 1 time
)");
}

TEST(DivergenceText, DifferentBarriers) {
  EXPECT_EQ(report::raceText(divergence(false), plain()),
            R"(wavesan: barrier-divergence: work-items of one workgroup wait at different barriers
  kernel k(int*), dispatch 3, workgroup (0,0,0), wave size 64
  waves 0..1 wait at app.hip:30:5 in k
  wave 1 (lanes 24..63) waits at app.hip:35:5 in k
  the branch that parts them is at app.hip:20:9 in k
  a barrier needs every work-item of the workgroup, and after 2 barriers that all of them passed, these reach different ones; wave 1 is split and counted twice
  fix: let every work-item reach the same barriers: replace those in line 30 and line 35 by one barrier behind the branch in line 20
  seen 1 time
)");
}

TEST(DivergenceText, UnevenRounds) {
  Race r = divergence(true);
  r.divergence->uneven = true;
  EXPECT_EQ(report::divergenceReason(r),
            "a barrier needs every work-item of the workgroup: after 2 barriers that all of them "
            "passed, waves 0..1 go round the loop again, wave 1 (lanes 24..63) does not");
  EXPECT_EQ(report::divergenceFix(r),
            "give all work-items the same number of rounds (condition in line 20), and put the work of "
            "those that have less to do under an `if` without the barrier");
}

TEST(DivergenceText, NothingKnown) {
  Race r = divergence(true);
  r.divergence->branch.clear();
  r.current.frames.clear();
  r.previous.frames.clear();
  EXPECT_EQ(report::divergenceFix(r),
            "let every work-item reach the barrier: do not return before it, put the work under an `if` "
            "instead; or move the barrier out of the branch (compile with -gline-tables-only to see the lines)");
  EXPECT_NE(report::raceText(r, plain()).find("wait at an unknown line\n"), std::string::npos);
}

TEST(DivergenceText, OneFunctionCalledTwiceNamesItsCallers) {
  Race r = divergence(false);
  for (report::Access *side : {&r.previous, &r.current}) {
    side->frames = {at(910, 3, "__syncthreads()", "/usr/include/hip/amd_device_functions.h"), at(8, 3, "helper"),
                    at(side == &r.previous ? 40 : 42, 5)};
  }
  EXPECT_NE(report::divergenceFix(r).find("line 40 and line 42"), std::string::npos) << report::divergenceFix(r);
}

TEST(DivergenceText, Ranges) {
  EXPECT_EQ(report::rangesText(0b1011), "0..1, 3");
  EXPECT_EQ(report::rangesText(~uint64_t(0)), "0..63");
  EXPECT_EQ(report::rangesText(uint64_t(1) << 63), "63");
}

TEST(DivergenceJson, ComesBackUnchanged) {
  for (bool ends : {false, true}) {
    report::Document document;
    document.races = {divergence(ends)};
    document.summary.races = 1;
    std::string error;
    const auto back = report::parseDocument(report::jsonText(document), error);
    ASSERT_TRUE(back) << error;
    EXPECT_EQ(report::raceText(back->races[0], plain()), report::raceText(document.races[0], plain()));
    EXPECT_EQ(report::jsonText(*back), report::jsonText(document));
  }
}

TEST(DivergenceJson, AClassWithoutItsMembersIsRefused) {
  report::Document document;
  document.races = {divergence(true)};
  document.summary.races = 1;
  document.races[0].divergence.reset();
  std::string error;
  EXPECT_FALSE(report::parseDocument(report::jsonText(document), error));
}

TEST(DivergenceFormats, SarifAndJunitNameRuleAndLines) {
  report::Document document;
  document.races = {divergence(true), divergence(false)};
  document.summary.races = 2;
  const std::string sarif = report::sarifText(document), junit = report::junitText(document);
  EXPECT_NE(sarif.find("\"ruleId\": \"early-exit\""), std::string::npos);
  EXPECT_NE(sarif.find("\"ruleId\": \"barrier-divergence\""), std::string::npos);
  EXPECT_NE(sarif.find("\"startLine\": 20"), std::string::npos);
  EXPECT_NE(junit.find("early-exit app.hip:20:9 against app.hip:30:5"), std::string::npos);
  EXPECT_NE(junit.find("failures=\"2\""), std::string::npos);
}

TEST(LaneConflictText, SaysThatTheValuesDiffer) {
  Race r = race(report::Order::WriteAfterWrite, access(W, 1, 5, {at(12, 3)}), access(W, 1, 4, {at(12, 3)}));
  r.raceClass = abi::RaceClass::LaneConflict;
  const std::string text = report::raceText(r, plain());
  EXPECT_EQ(text.substr(0, text.find(" on ")),
            "wavesan: lane-conflict: LDS store: lanes of one instruction write different values");
  EXPECT_NE(text.find("write of 4 bytes by wave 1 lane 5 at app.hip:12:3"), std::string::npos) << text;
  EXPECT_NE(text.find("fix: let only one work-item execute the write in line 12"), std::string::npos) << text;
}

TEST(WaveOrderText, SaysThatTheCompilerChooses) {
  Race r = race(report::Order::ReadAfterWrite, access(R, 1, 20, {at(12, 3)}), access(W, 1, 4, {at(9, 3)}));
  r.raceClass = abi::RaceClass::WaveOrder;
  const std::string text = report::raceText(r, plain());
  EXPECT_EQ(text.substr(0, text.find(" on ")), "wavesan: wave-order-dependent: LDS write-read (read after write)");
  EXPECT_NE(text.find("divergent arms of a branch: which of them wave 1 executes first is the compiler's choice"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("fix: end the branch between the two"), std::string::npos) << text;
  r.severity = report::Severity::Warning;
  EXPECT_TRUE(report::raceText(r, plain()).starts_with("wavesan: warning: wave-order-dependent: LDS write-read"));
}
TEST(WaveOrderText, ARaceWithinAWaveSaysWhatTheHardwareDoes) {
  Race r = race(report::Order::ReadAfterWrite, access(R, 1, 40, {at(12, 3)}), access(W, 1, 4, {at(9, 3)}));
  r.waveSize = 64;
  EXPECT_NE(report::raceText(r, plain()).find("found by wave_order=language: with waves of 64 the hardware executes the "
                                              "two in program order; with waves of 32 these lanes are in different waves"),
            std::string::npos)
      << report::raceText(r, plain());
  r.current.lane = 20;
  EXPECT_EQ(report::raceText(r, plain()).find("waves of 32"), std::string::npos);
  r.waveSize = 32;
  EXPECT_NE(report::raceText(r, plain()).find("with waves of 32 the hardware executes"), std::string::npos);
}

} // namespace
} // namespace wavesan::test
