// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Option check_waits: what the checker prints becomes findings, and its failures are said.
#include "tool_fixture.h"

#include "wait_check.h"

#include <sys/stat.h>

namespace wavesan::test {

namespace {

std::string hazardLine(const std::string &function, int offset, const std::string &place = "") {
  return R"({"type":"hazard","code":"W01","title":"read too early","confidence":"proven","function":")" + function +
         R"(","registers":"v3","target":"gfx90a","counter":"vmcnt","emitted_wait":null,"sufficient_wait":0,"producer":{"offset":)" +
         std::to_string(offset) + R"(,"text":"global_load_dword v3, v[0:1], off"},"consumer":{"offset":)" +
         std::to_string(offset + 8) + R"(,"text":"v_add_f32_e32 v3, v3, v3")" + place + "}}\n";
}

constexpr char kSummaryLine[] = R"({"type":"summary","not_shown":0,"incomplete_functions":0,"complete":true})"
                                "\n";

/// A stand-in for the checker: a shell script.
class FakeChecker {
public:
  explicit FakeChecker(const std::string &commands) : Script("#!/bin/sh\ncat > /dev/null\n" + commands + "\n") {
    chmod(Script.path().c_str(), 0700);
  }
  hsa::WaitCheckResult check() const { return hsa::WaitChecker(Script.path()).check("an object"); }

private:
  TemporaryFile Script;
};

} // namespace

TEST(WaitReport, AHazardOfTheCheckedCopyIsTheOriginals) {
  const hsa::WaitCheckResult r = hsa::readWaitReport(hazardLine("k", 16) + hazardLine("k.wavesan", 400) +
                                                     hazardLine("other.wavesan", 8) + kSummaryLine);
  ASSERT_EQ(r.hazards.size(), 2u);
  EXPECT_EQ(r.hazards[0].kernelMangled, "k");
  EXPECT_EQ(r.hazards[0].consumer.offset, 24u);
  EXPECT_EQ(r.hazards[0].registers, "v3");
  EXPECT_TRUE(r.hazards[0].proven);
  EXPECT_FALSE(r.hazards[0].emittedWait);
  EXPECT_EQ(r.hazards[1].kernelMangled, "other.wavesan") << "only the copy has it";
  EXPECT_TRUE(r.complete);
}

TEST(WaitReport, CopiesAreComparedByLinesWhereThereAreSome) {
  const std::string five = R"(,"file":"a.hip","line":5,"column":3)", six = R"(,"file":"a.hip","line":6,"column":3)";
  EXPECT_EQ(hsa::readWaitReport(hazardLine("k", 16, five) + hazardLine("k.wavesan", 40, five)).hazards.size(), 1u);
  EXPECT_EQ(hsa::readWaitReport(hazardLine("k", 16, five) + hazardLine("k.wavesan", 40, six)).hazards.size(), 2u);
}

TEST(WaitReport, WithoutASummaryItIsIncomplete) {
  const hsa::WaitCheckResult r = hsa::readWaitReport(hazardLine("k", 16) + "{\"type\":\"haz");
  EXPECT_FALSE(r.complete);
  EXPECT_EQ(r.hazards.size(), 1u);
}

TEST(WaitChecker, FailuresAreProblems) {
  EXPECT_EQ(hsa::WaitChecker("/no/such/checker").check("x").problems,
            std::vector<std::string>{"/no/such/checker: No such file or directory"});
  EXPECT_EQ(FakeChecker("kill -SEGV $$").check().problems,
            std::vector<std::string>{"the checker was ended by signal 11"});
  EXPECT_EQ(FakeChecker("exit 0").check().problems, std::vector<std::string>{"the checker ended before its time"});
  const hsa::WaitCheckResult good = FakeChecker(std::string("echo '") + kSummaryLine + "'").check();
  EXPECT_TRUE(good.complete);
  EXPECT_TRUE(good.problems.empty());
}

TEST(WaitChecker, TheCheckerDoesNotInheritTheTool) {
  setenv("HSA_TOOLS_LIB", "libwavesan-hsa.so", 1);
  const hsa::WaitCheckResult r =
      FakeChecker("test -z \"$HSA_TOOLS_LIB\" || exit 1; echo '" + std::string(kSummaryLine) + "'").check();
  unsetenv("HSA_TOOLS_LIB");
  EXPECT_TRUE(r.complete);
}

TEST(WaitChecker, EqualObjectsAreCheckedOnce) {
  hsa::WaitChecker checker("x");
  EXPECT_TRUE(checker.isNew("one"));
  EXPECT_FALSE(checker.isNew("one"));
  EXPECT_TRUE(checker.isNew("two"));
}

TEST_F(ToolTest, WaitsAreNotCheckedUnlessAskedFor) {
  load();
  unload();
  EXPECT_EQ(log().find("check_waits"), std::string::npos) << log();
  EXPECT_EQ(log().find("wait hazards"), std::string::npos) << log();
}

TEST_F(ToolTest, AMissingCheckerIsAnError) {
  load("check_waits=1"); // no checker lies beside this test
  unload();
  EXPECT_NE(log().find("wavesan: check_waits: a code object's waits were not checked: "), std::string::npos) << log();
  EXPECT_NE(log().find("wavesan-check: No such file or directory\n"), std::string::npos) << log();
  EXPECT_NE(log().find("wavesan: 1 error of WaveSan itself (printed above)\n"), std::string::npos) << log();
}

} // namespace wavesan::test
