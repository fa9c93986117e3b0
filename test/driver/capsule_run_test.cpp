// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a capsule may ask of the run that replays it; and the command lines around capsules.
#include "capsule_run.h"
#include "replay_line.h"
#include "run_line.h"

#include <gtest/gtest.h>

namespace wavesan::driver {
namespace {

/// Nothing is executed: there is nothing at that place.
CapsuleRun run(const std::map<std::string, std::string> &options, const std::string &target = "gfx90a") {
  static const Layout layout = layoutBelow("/nowhere");
  capsule::Capsule capsule;
  capsule.options = options;
  capsule.target = target;
  return runCapsule({layout, true, std::nullopt}, "/nowhere/a.capsule", capsule, true);
}

TEST(CapsuleRun, OptionsThatNoCapsuleMaySet) {
  for (const std::string name :
       {"log_path", "json_path", "tool", "capsule", "suppressions", "exitcode", "nonsense", ""})
    EXPECT_EQ(run({{name, "x"}}).problem, "it sets the option '" + name + "', which no capsule may");
}

TEST(CapsuleRun, ValuesThatAreNone) {
  EXPECT_EQ(run({{"seed", "1:tool=evil.so"}}).problem,
            "option seed: '1:tool=evil.so' is not a number from 0 to 18446744073709551615");
  EXPECT_EQ(run({{"hooks", "native':tool='evil.so"}}).problem,
            "option hooks: 'native':tool='evil.so' is none of native, device");
  EXPECT_NE(run({}, "gfx000").problem.find("option gpu: 'gfx000' is none of"), std::string::npos);
}

TEST(CapsuleRun, AProgramThatIsNotThere) {
  const CapsuleRun result = run({{"seed", "3"}, {"early_exit", "off"}});
  EXPECT_NE(result.problem, "");
  EXPECT_TRUE(result.races.empty());
}

TEST(CapsuleRun, RacesThatCannotBeRead) {
  capsule::Capsule capsule;
  std::string error;
  for (const std::string text : {"", "[", "{}", "null"}) {
    capsule.signature = text;
    EXPECT_FALSE(recordedRaces(capsule, error)) << text;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
}

TEST(ReplayLine, Words) {
  const ReplayLine line =
      readReplayLine({"--seed", "7", "--device=cpu", "--minimise", "--trials", "5", "a", "b.capsule"});
  EXPECT_FALSE(line.done);
  EXPECT_EQ(line.request.seed, std::optional<uint64_t>(7));
  EXPECT_EQ(line.request.device, RunRequest::Device::Cpu);
  EXPECT_TRUE(line.request.minimise);
  EXPECT_EQ(line.request.trials, 5u);
  EXPECT_EQ(line.request.paths, (std::vector<std::string>{"a", "b.capsule"}));
  EXPECT_FALSE(readReplayLine({"a"}).request.seed);
  for (const std::vector<std::string> &wrong : {std::vector<std::string>{},
                                                {"--seed", "-1", "a"},
                                                {"--seed", "x", "a"},
                                                {"--nonsense", "a"},
                                                {"--trials", "-3", "a"}}) {
    const ReplayLine bad = readReplayLine(wrong);
    EXPECT_TRUE(bad.done);
    EXPECT_EQ(bad.status, 2);
  }
}

TEST(RunLine, CapsulesAndConfirmation) {
  const RunLine line = readRunLine(
      {"--confirm", "--capsule", "/some where/dir", "--capsule-kernels=a*;!ab", "--capsule-all", "--", "p"});
  ASSERT_FALSE(line.done);
  EXPECT_EQ(line.request.options, "confirm=1:capsule='/some where/dir':capsule_kernels=a*;!ab:capsule_of=all");
  EXPECT_EQ(line.request.command, std::vector<std::string>{"p"});
  for (const std::string flag : {"--capsule-all", "--capsule-kernels=a"}) {
    const RunLine bad = readRunLine({flag, "p"});
    EXPECT_TRUE(bad.done);
    EXPECT_EQ(bad.status, 2);
  }
}

} // namespace
} // namespace wavesan::driver
