// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command made of a command line and a toolchain.
#include "compile_plan.h"
#include "shell_quote.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace wavesan::driver;
using Words = std::vector<std::string>;

namespace {

const Layout kLayout = layoutBelow("/p");
const Compiler kClang{"clang++-22", {22, 1, 8}, false};

HipInstall oldHip() {
  HipInstall hip;
  hip.rocmPath = hip.versionRoot = "/usr";
  hip.deviceLibPath = "/libs";
  hip.headersNeedWaveSize = hip.headersNeedRcpF16 = hip.needsCodeObjectV4 = true;
  hip.fenceBitcode = "/libs/hip.bc";
  hip.denormalBitcodeOff = "/libs/off.bc";
  hip.denormalBitcodeOn = "/libs/on.bc";
  return hip;
}

HipInstall newHip() {
  HipInstall hip;
  hip.versionRoot = "/opt/rocm";
  return hip;
}

CompilePlan plan(const Words &words, const HipInstall &hip, const Compiler &compiler = kClang) {
  std::string error;
  return planCompile(readCompileLine(words, error), compiler, hip, kLayout);
}

bool has(const CompilePlan &p, const Words &sequence) {
  return std::search(p.command.begin(), p.command.end(), sequence.begin(), sequence.end()) != p.command.end();
}

} // namespace

TEST(CompilePlan, NewHipGetsThePluginAndLineTablesOnly) {
  CompilePlan p = plan({"--offload-arch=gfx90a", "-O2", "a.hip", "-o", "a"}, newHip());
  EXPECT_EQ(p.command, (Words{"clang++-22", "-Xarch_device", "-fpass-plugin=/p/lib/wavesan/libwavesan-pass.so",
                              "-gline-tables-only", "--offload-arch=gfx90a", "-O2", "a.hip", "-o", "a"}));
  EXPECT_TRUE(p.notes.empty());
}

TEST(CompilePlan, OldHipGetsTheRepairs) {
  CompilePlan p = plan({"--offload-arch=gfx90a", "--offload-arch=gfx1030", "a.hip"}, oldHip());
  EXPECT_TRUE(has(p, {"--rocm-path=/usr", "--rocm-device-lib-path=/libs"}));
  EXPECT_TRUE(
      has(p, {"-Xarch_gfx90a", "-D__AMDGCN_WAVEFRONT_SIZE=64", "-Xarch_gfx1030", "-D__AMDGCN_WAVEFRONT_SIZE=32"}));
  EXPECT_TRUE(has(p, {"-include", "/p/lib/wavesan/include/wavesan_hip_compat.h"}));
  EXPECT_TRUE(has(p, {"-mcode-object-version=4"}));
  EXPECT_TRUE(has(p, {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", "/libs/hip.bc"}));
  EXPECT_TRUE(has(p, {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", "/libs/off.bc"}));
  EXPECT_TRUE(has(plan({"-fgpu-flush-denormals-to-zero", "a.hip"}, oldHip()), {"-Xclang", "/libs/on.bc"}));
}

TEST(CompilePlan, HostOnlyCompilesGetNothingForDevices) {
  CompilePlan p = plan({"--offload-arch=gfx90a", "--cuda-host-only", "a.hip"}, oldHip());
  EXPECT_TRUE(has(p, {"-Xarch_host", "-D__AMDGCN_WAVEFRONT_SIZE=64"}));
  EXPECT_FALSE(has(p, {"-Xarch_gfx90a"}));
  EXPECT_FALSE(has(p, {"-Xarch_device"}));
}

TEST(CompilePlan, ObjectsOfHipProgramsAreLinkedWithHip) {
  std::string error;
  CompileLine line = readCompileLine({"a.o", "-o", "a"}, error);
  EXPECT_FALSE(has(planCompile(line, kClang, oldHip(), kLayout), {"--hip-link"}));
  line.linksHipObjects = true;
  EXPECT_TRUE(has(planCompile(line, kClang, oldHip(), kLayout), {"--hip-link"}));
}

TEST(CompilePlan, DeniedDebugInfoIsNoted) {
  CompilePlan p = plan({"--offload-arch=gfx90a", "-g0", "a.hip"}, oldHip());
  ASSERT_EQ(p.notes.size(), 1u);
  EXPECT_NE(p.notes[0].find("-g0: reports will name no source lines"), std::string::npos) << p.notes[0];
  EXPECT_TRUE(plan({"--offload-arch=gfx90a", "a.hip"}, oldHip()).notes.empty());
}

TEST(CompilePlan, WhatTheUserSaysIsNotSaidAgain) {
  CompilePlan p = plan(
      {"--offload-arch=gfx90a", "-g", "-D__AMDGCN_WAVEFRONT_SIZE=64", "-mcode-object-version=5", "a.hip"}, oldHip());
  EXPECT_FALSE(has(p, {"-gline-tables-only"}));
  EXPECT_FALSE(has(p, {"-Xarch_gfx90a"}));
  EXPECT_FALSE(has(p, {"-mcode-object-version=4"}));
}

TEST(CompilePlan, TheUsersOptimisationLevelStays) {
  for (const Words &args :
       {Words{"--offload-arch=gfx90a", "a.hip"}, Words{"--offload-arch=gfx90a", "-O2", "-O0", "a.hip"}})
    for (const char *level : {"-O1", "-O3"})
      EXPECT_FALSE(has(plan(args, oldHip()), {level}));
}

TEST(CompilePlan, NoTargetMeansGfx90aAndSaysSo) {
  CompilePlan p = plan({"-O2", "a.hip"}, oldHip());
  EXPECT_TRUE(has(p, {"--offload-arch=gfx90a"}));
  EXPECT_TRUE(has(p, {"-Xarch_gfx90a", "-D__AMDGCN_WAVEFRONT_SIZE=64"}));
  EXPECT_EQ(p.notes.size(), 1u);
}

TEST(CompilePlan, ArgumentsStayAsTheyAre) {
  Words args = {"-DA='b c'", "--offload-arch=gfx90a", "a.hip", "-Wl,-rpath,x", "-lfoo", "-o", "a b", "-g", "-g", "-O2"};
  CompilePlan p = plan(args, oldHip());
  ASSERT_GE(p.command.size(), args.size());
  EXPECT_TRUE(std::equal(args.begin(), args.end(), p.command.end() - std::ptrdiff_t(args.size())));
}

TEST(CompilePlan, LanguageMarks) {
  CompilePlan p = plan({"hipcc", "--offload-arch=gfx90a", "a.cpp", "b.o", "c.cu"}, newHip());
  EXPECT_TRUE(has(p, {"-x", "hip", "a.cpp", "-x", "none", "b.o", "-x", "hip", "c.cu"}));
  EXPECT_NE(p.command.back(), "none") << "clang warns of a language behind the last file";
  EXPECT_FALSE(has(plan({"--offload-arch=gfx90a", "-x", "hip", "a.cpp"}, newHip()), {"-x", "none"}));
  EXPECT_FALSE(has(plan({"--offload-arch=gfx90a", "a.hip"}, newHip()), {"-x"}));
}

TEST(CompilePlan, HipccsDefaults) {
  EXPECT_TRUE(has(plan({"hipcc", "a.cpp"}, newHip()), {"-O3"}));
  EXPECT_FALSE(has(plan({"hipcc", "-O1", "a.cpp"}, newHip()), {"-O3"}));
  EXPECT_FALSE(has(plan({"clang++", "a.hip"}, newHip()), {"-O3"}));
  EXPECT_TRUE(has(plan({"hipcc", "a.o", "-o", "a"}, oldHip()), {"--hip-link", "--rocm-path=/usr", "a.o"}));
}

TEST(CompilePlan, AMatchingHipccKeepsItsOwnWays) {
  Compiler hipcc{"hipcc", {22, 1, 8}, true};
  CompilePlan p = plan({"hipcc", "--offload-arch=gfx90a", "a.cpp"}, newHip(), hipcc);
  EXPECT_EQ(p.command, (Words{"hipcc", "-Xarch_device", "-fpass-plugin=/p/lib/wavesan/libwavesan-pass.so",
                              "-gline-tables-only", "--offload-arch=gfx90a", "a.cpp"}));
}

TEST(CompilePlan, OtherInvocationsAreTheCompilersOwn) {
  for (const Words &args :
       {Words{"--version"}, Words{"a.o", "b.o", "-o", "x"}, Words{"-c", "plain.cpp"}, Words{"-v"}}) {
    Words expected = args;
    expected.insert(expected.begin(), "clang++-22");
    EXPECT_EQ(plan(args, oldHip()).command, expected);
  }
}

TEST(CompilePlan, PreprocessingGetsHeadersButNoPlugin) {
  CompilePlan p = plan({"-E", "--offload-arch=gfx90a", "a.hip"}, oldHip());
  EXPECT_TRUE(has(p, {"-Xarch_gfx90a"}));
  EXPECT_FALSE(has(p, {"-Xarch_device"}));
  EXPECT_FALSE(has(p, {"-mlink-builtin-bitcode"}));
}

TEST(CompilePlan, RefusalsAreOneLine) {
  EXPECT_NE(plan({"-fgpu-rdc", "a.hip"}, newHip()).error.find("-fgpu-rdc"), std::string::npos);
  EXPECT_NE(plan({"--offload-arch=native", "a.hip"}, oldHip()).error.find("native"), std::string::npos);
  EXPECT_NE(plan({"--offload-arch=sm_80", "a.hip"}, oldHip()).error.find("sm_80"), std::string::npos);
  EXPECT_EQ(plan({"--offload-arch=native", "a.hip"}, newHip()).error, "");
}

TEST(ShellQuote, CanBePasted) {
  EXPECT_EQ(shellQuote(Words{"clang++", "-DA=b c", "it's", "", "$x"}), "clang++ '-DA=b c' 'it'\\''s' '' '$x'");
}
