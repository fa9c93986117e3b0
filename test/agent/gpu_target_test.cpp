// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpu_target.h"
#include "program_targets.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace wavesan::agent {
namespace {

TEST(GpuTarget, WaveSizesFollowTheFamily) {
  EXPECT_EQ(findGpuTarget("gfx90a")->waveSize, 64u);
  EXPECT_EQ(findGpuTarget("gfx1030")->waveSize, 32u);
  EXPECT_EQ(findGpuTarget("gfx9999"), nullptr);
  EXPECT_EQ(findGpuTarget(""), nullptr);
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
  EXPECT_EQ(targets.bundles, (std::vector<std::vector<std::string>>{{"gfx1030", "gfx90a"}}));
  EXPECT_TRUE(targets.damage.empty());
}

TEST(GpuTarget, WhatTheProgramLacksIsNamed) {
  auto lacking = [](std::vector<std::vector<std::string>> bundles, const char *gpu) {
    ProgramTargets targets;
    for (const auto &bundle : bundles)
      for (const std::string &target : bundle)
        targets.all.push_back(target);
    targets.bundles = std::move(bundles);
    return missingTarget(targets, gpu);
  };
  EXPECT_EQ(lacking({}, "gfx90a"), ""); // a program without GPU code of its own may load some
  EXPECT_EQ(lacking({{"gfx90a"}, {"gfx1030", "gfx90a"}}, "gfx90a"), "");
  EXPECT_EQ(lacking({{"gfx90a"}}, "gfx1030"),
            "the program has GPU code for gfx90a, not for gfx1030, which the CPU agent presents: compile it with "
            "--offload-arch=gfx1030, or run it with --gpu=gfx90a");
  EXPECT_EQ(
      lacking({{"gfx90a", "gfx1030"}, {"gfx1030"}}, "gfx90a"),
      "a part of the program has GPU code for gfx1030, not for gfx90a, which the CPU agent presents: compile it with "
      "--offload-arch=gfx90a, or run it with --gpu=gfx1030");
  EXPECT_EQ(
      lacking({{"gfx9999"}, {"gfx1030"}}, "gfx90a"),
      "the program has GPU code for gfx9999, gfx1030, not for gfx90a, which the CPU agent presents: compile it with "
      "--offload-arch=gfx90a"); // no target serves all of it
}

TEST(GpuTarget, DamagedBundlesAreNamed) {
  std::ifstream in(WAVESAN_AGENT_TEST_DIR "/bundle.elf", std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  const std::string magic = "__CLANG_OFFLOAD_BUNDLE__";
  const size_t at = whole.find(magic);
  ASSERT_NE(at, std::string::npos);
  auto damageOf = [](const std::string &bytes) {
    const std::string path = testing::TempDir() + "wavesan-damaged-" + std::to_string(getpid());
    std::ofstream(path, std::ios::binary) << bytes;
    ProgramTargets targets;
    addProgramTargets(path.c_str(), targets);
    unlink(path.c_str());
    return targets.damage;
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(damageOf(whole), Lines());
  std::string bytes = whole;
  bytes[at] = '-';
  EXPECT_EQ(damageOf(bytes), Lines{"section .hip_fatbin: no offload bundle in it"});
  bytes = whole;
  bytes[at + magic.size() + 8 + 24 + std::strlen("host-x86_64-unknown-linux-gnu") + 15] = 1; // size of the second entry
  EXPECT_EQ(damageOf(bytes), Lines{"offload bundle: an entry lies outside of the program"});
  bytes = whole;
  const size_t image = bytes.find("\x7f"
                                  "ELF",
                                  at);
  ASSERT_NE(image, std::string::npos);
  bytes[image + 1] = 'e';
  EXPECT_EQ(damageOf(bytes), Lines{"code object for gfx1030: not a 64-bit little-endian ELF image"});
  bytes = whole;
  bytes[image + 0x28 + 5] = 1; // offset of the section headers
  EXPECT_EQ(damageOf(bytes), Lines{"code object for gfx1030: section header table outside of the image"});
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
