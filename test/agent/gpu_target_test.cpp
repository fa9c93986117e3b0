// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpu_target.h"

#include <gtest/gtest.h>

namespace wavesan::agent {
namespace {

TEST(GpuTarget, WaveSizesFollowTheFamily) {
  EXPECT_EQ(findGpuTarget("gfx90a")->waveSize, 64u);
  EXPECT_EQ(findGpuTarget("gfx1030")->waveSize, 32u);
  EXPECT_EQ(findGpuTarget("gfx9999"), nullptr);
  EXPECT_EQ(findGpuTarget(""), nullptr);
  EXPECT_NE(gpuTargetNames().find("gfx90a"), std::string::npos);
}

TEST(GpuTarget, AutoTakesTheOnlyTargetWithIr) {
  EXPECT_EQ(chooseGpu({}), "gfx90a");
  EXPECT_EQ(chooseGpu({{"gfx1030"}, {"gfx1030", "gfx90a"}}), "gfx1030");
  EXPECT_EQ(chooseGpu({{"gfx1030", "gfx90a"}, {"gfx1030", "gfx90a"}}), "gfx90a");
  EXPECT_EQ(chooseGpu({{}, {"gfx1030"}}), "gfx1030"); // then the launch can say that there is no IR
  EXPECT_EQ(chooseGpu({{}, {"gfx9999"}}), "gfx90a");
  EXPECT_EQ(chooseGpu({{"gfx1030", "gfx1100"}, {"gfx1030", "gfx1100"}}), "gfx1030");
}

TEST(GpuTarget, BundlesOfAProgramAreRead) {
  ProgramTargets targets;
  addProgramTargets(WAVESAN_AGENT_TEST_DIR "/bundle.elf", targets);
  EXPECT_EQ(targets.all, (std::vector<std::string>{"gfx1030", "gfx90a"}));
  EXPECT_EQ(targets.withIr, (std::vector<std::string>{"gfx1030"}));
}

TEST(GpuTarget, OtherFilesHaveNone) {
  for (const char *path :
       {"/nonexistent", "/", "/proc/self/exe", WAVESAN_AGENT_TEST_DIR "/fake_v4.hsaco", "/dev/null"}) {
    ProgramTargets targets;
    addProgramTargets(path, targets);
    EXPECT_TRUE(targets.all.empty()) << path;
  }
}

} // namespace
} // namespace wavesan::agent
