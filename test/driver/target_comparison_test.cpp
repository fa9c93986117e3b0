// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several targets in one `wavesan run`: what a program has code for, and what the runs say together.
#include "code_targets.h"
#include "run_line.h"
#include "target_comparison.h"

#include <gtest/gtest.h>

namespace wavesan::driver {
namespace {

std::string bundle(const std::vector<std::string> &ids) {
  std::string bytes = "__CLANG_OFFLOAD_BUNDLE__";
  const auto number = [&](uint64_t n) { bytes.append(reinterpret_cast<const char *>(&n), sizeof n); };
  number(ids.size());
  for (const std::string &id : ids) {
    number(4096);
    number(100);
    number(id.size());
    bytes += id;
  }
  return bytes;
}

TEST(CodeTargets, OfTheBundlesOfAProgram) {
  const std::string bytes =
      "ELF..." + bundle({"host-x86_64-unknown-linux--", "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-"}) +
      std::string(100, 'x') + bundle({"hipv4-amdgcn-amd-amdhsa--gfx1030", "hip-amdgcn-amd-amdhsa-gfx90a"});
  EXPECT_EQ(codeTargets(bytes), (std::vector<std::string>{"gfx1030", "gfx90a"}));
  EXPECT_TRUE(codeTargets("no bundle").empty());
}
TEST(CodeTargets, TruncatedAndHostileBundles) {
  const std::string whole = bundle({"hipv4-amdgcn-amd-amdhsa--gfx90a"});
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_LE(codeTargets(whole.substr(0, n)).size(), 1u);
  std::string many = whole;
  many.replace(24, 8, 8, '\xff'); // entries
  EXPECT_EQ(codeTargets(many).size(), 1u);
  std::string longId = whole;
  longId.replace(24 + 8 + 16, 8, 8, '\xff');
  EXPECT_TRUE(codeTargets(longId).empty());
}

report::Race race(const std::string &kernel, uint32_t a, uint32_t b) {
  report::Race r;
  r.kernel = kernel;
  r.previous.frames = {{"k", "a.hip", a, 1}};
  r.current.frames = {{"k", "a.hip", b, 1}};
  return r;
}
TargetVerdict verdict(const std::string &target, uint32_t waveSize, std::vector<report::Race> races) {
  TargetVerdict v;
  v.target = target;
  v.waveSize = waveSize;
  v.document.races = std::move(races);
  return v;
}

TEST(TargetComparison, NamesWhatDiffers) {
  EXPECT_EQ(comparisonLine({verdict("gfx90a", 64, {race("k", 3, 7)}), verdict("gfx1030", 32, {race("k", 7, 3)})}),
            "the same verdicts on gfx90a (waves of 64), gfx1030 (waves of 32): 1 race");
  EXPECT_EQ(comparisonLine({verdict("gfx90a", 64, {race("k", 3, 7)}),
                            verdict("gfx1030", 32, {race("k", 3, 7), race("k", 5, 5), race("l", 3, 7)})}),
            "verdicts that differ between gfx90a (waves of 64), gfx1030 (waves of 32): only on gfx1030 (waves of 32): "
            "race in k at a.hip:5; only on gfx1030 (waves of 32): race in l at a.hip:3 and a.hip:7");
}
TEST(TargetComparison, SaysNothingOfRunsWithoutResult) {
  TargetVerdict missing = verdict("gfx1030", 32, {});
  missing.known = false;
  EXPECT_EQ(comparisonLine({verdict("gfx90a", 64, {race("k", 3, 7)}), missing}),
            "verdicts cannot be compared: the result of gfx1030 (waves of 32) is missing or incomplete");
  missing.known = true;
  missing.incomplete = true;
  EXPECT_TRUE(comparisonLine({missing, missing}).starts_with("verdicts cannot be compared"));
}
TEST(TargetComparison, FilesOfTargets) {
  EXPECT_EQ(pathOfTarget("out/r.json", "gfx90a"), "out/r.gfx90a.json");
  EXPECT_EQ(pathOfTarget("r-%p", "gfx90a"), "r-%p.gfx90a");
  EXPECT_EQ(pathOfTarget("stderr", "gfx90a"), "stderr");
  EXPECT_EQ(pathOfTarget("/dev/stdout", "gfx90a"), "/dev/stdout");
  EXPECT_EQ(pathOfTarget("", "gfx90a"), "");
}

TEST(RunLine, SeveralTargets) {
  const RunLine line = readRunLine({"--gpu=gfx90a,gfx1030", "-o", "seed=3", "prog"});
  EXPECT_FALSE(line.done);
  EXPECT_EQ(line.request.targets, (std::vector<std::string>{"gfx90a", "gfx1030"}));
  EXPECT_EQ(line.request.options, "seed=3");
  EXPECT_TRUE(readRunLine({"--gpu=gfx90a", "prog"}).request.targets.empty());
  EXPECT_EQ(readRunLine({"--gpu=gfx90a,gfx90a", "prog"}).request.targets.size(), 1u);
  for (const char *bad : {"--gpu=gfx90a,nothing", "--gpu=gfx90a,auto", "--gpu=gfx90a,,gfx1030"})
    EXPECT_TRUE(readRunLine({bad, "prog"}).done) << bad;
  EXPECT_TRUE(readRunLine({"--gpu=gfx90a,gfx1030", "--device=gpu", "prog"}).done);
}

} // namespace
} // namespace wavesan::driver
