// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is read from compiler command lines.
#include "compile_line.h"
#include "temporary_directory.h"

#include <gtest/gtest.h>

using namespace wavesan::driver;
using Words = std::vector<std::string>;

static CompileLine read(const Words &words) {
  std::string error;
  CompileLine line = readCompileLine(words, error);
  EXPECT_EQ(error, "");
  return line;
}

TEST(CompileLine, LeadingCompilerNamesAreStripped) {
  for (const char *name : {"clang++", "clang++-22", "hipcc", "amdclang++", "tools/bin/clang++", "clang"}) {
    CompileLine line = read({name, "-c", "a.hip"});
    EXPECT_EQ(line.compiler, name);
    EXPECT_EQ(line.verbatimArgs, (Words{"-c", "a.hip"}));
  }
  for (const char *name : {"clang++.hip", "hipcc-notes.hip", "a.hip", "-c", "clang++-x"})
    EXPECT_EQ(read({name, "b.hip"}).compiler, "") << name;
}

TEST(CompileLine, ValuesOfOptionsAreNoInputs) {
  CompileLine line = read({"-o", "a.hip", "-I", "b.hip", "-Xclang", "c.hip", "-include", "d.hip", "-MF", "e.hip",
                           "-Xarch_gfx90a", "-DX", "real.hip"});
  ASSERT_EQ(line.inputs.size(), 1u);
  EXPECT_EQ(line.inputs[0].path, "real.hip");
  EXPECT_EQ(line.inputs[0].index, 12u);
}

TEST(CompileLine, HipInputs) {
  CompileLine line = read({"a.hip", "b.cu", "c.cpp", "d.o", "libe.a"});
  ASSERT_EQ(line.inputs.size(), 5u);
  EXPECT_TRUE(line.inputs[0].isHip && !line.inputs[0].needsLanguage);
  EXPECT_TRUE(line.inputs[1].isHip && line.inputs[1].needsLanguage);
  EXPECT_TRUE(line.inputs[2].isSource && !line.inputs[2].isHip);
  EXPECT_FALSE(line.inputs[3].isSource);
  EXPECT_FALSE(line.inputs[4].isSource);
}

TEST(CompileLine, CxxIsHipForHipccAndWhereAGpuIsNamed) {
  EXPECT_TRUE(read({"hipcc", "c.cpp"}).inputs[0].needsLanguage);
  EXPECT_TRUE(read({"--offload-arch=gfx90a", "c.cc"}).inputs[0].needsLanguage);
  EXPECT_FALSE(read({"clang++", "c.cpp"}).hasHipSource());
  EXPECT_FALSE(read({"hipcc", "c.c"}).hasHipSource());
}

TEST(CompileLine, LanguageOptionHoldsUntilTheNext) {
  CompileLine line = read({"-x", "hip", "a.cpp", "-x", "none", "b.cpp", "-xhip", "c.txt", "-xc++", "d.hip"});
  ASSERT_EQ(line.inputs.size(), 4u);
  EXPECT_TRUE(line.inputs[0].isHip && !line.inputs[0].needsLanguage);
  EXPECT_FALSE(line.inputs[1].isHip);
  EXPECT_TRUE(line.inputs[2].isHip && !line.inputs[2].needsLanguage);
  EXPECT_TRUE(line.inputs[3].isSource && !line.inputs[3].isHip);
}

TEST(CompileLine, Phases) {
  EXPECT_EQ(read({"a.hip"}).phase, CompilePhase::Link);
  EXPECT_EQ(read({"-c", "a.hip"}).phase, CompilePhase::Compile);
  EXPECT_EQ(read({"-S", "-emit-llvm", "a.hip"}).phase, CompilePhase::Compile);
  EXPECT_EQ(read({"-E", "-c", "a.hip"}).phase, CompilePhase::Preprocess);
  EXPECT_EQ(read({"-c", "-fsyntax-only", "a.hip"}).phase, CompilePhase::Preprocess);
  EXPECT_EQ(read({"-MMD", "-MF", "x.d", "-c", "a.hip"}).phase, CompilePhase::Compile)
      << "writes dependencies beside the object";
}

TEST(CompileLine, Targets) {
  CompileLine line = read({"--offload-arch=gfx90a:xnack+,gfx1030", "--offload-arch=gfx1030", "--cuda-gpu-arch=gfx908",
                           "--no-offload-arch=gfx908", "a.hip"});
  EXPECT_EQ(line.offloadArchs, (Words{"gfx90a:xnack+", "gfx1030"}));
  EXPECT_TRUE(read({"--offload-arch=gfx90a", "--no-offload-arch=all"}).offloadArchs.empty());
}

TEST(CompileLine, DebugOptions) {
  for (const char *flag : {"-g", "-g1", "-ggdb", "-gdwarf-5", "-gline-tables-only"})
    EXPECT_TRUE(read({flag}).hasDebugInfo) << flag;
  for (const char *flag : {"-g0", "-gcolumn-info", "-gsplit-dwarf"})
    EXPECT_FALSE(read({flag}).hasDebugInfo) << flag;
  EXPECT_FALSE(read({"-g", "-g0"}).hasDebugInfo) << "the last one wins";
  EXPECT_TRUE(read({"-g", "-g0"}).deniesDebugInfo);
  EXPECT_FALSE(read({"-g0", "-g"}).deniesDebugInfo);
  EXPECT_FALSE(read({}).deniesDebugInfo);
}

TEST(CompileLine, OtherFacts) {
  CompileLine line = read({"-O1", "-mcode-object-version=5", "-D__AMDGCN_WAVEFRONT_SIZE=32", "-mwavefrontsize64",
                           "-fgpu-rdc", "--rocm-path=/opt/x", "--rocm-device-lib-path=/y", "--hip-link", "-nogpulib"});
  EXPECT_TRUE(line.hasOptimization && line.hasCodeObjectVersion && line.definesWaveSize && line.wave64 &&
              line.relocatableDevice && line.hasDeviceLibPath && line.hipLink && line.noGpuLib);
  EXPECT_EQ(line.rocmPath, "/opt/x");
  EXPECT_FALSE(read({"-fgpu-rdc", "-fno-gpu-rdc"}).relocatableDevice);
  EXPECT_TRUE(read({"-Xarch_gfx90a", "-D__AMDGCN_WAVEFRONT_SIZE=64"}).definesWaveSize);
}

TEST(CompileLine, ResponseFilesAreReadAndKept) {
  wavesan::test::TemporaryDirectory dir;
  std::string inner = dir.write("inner.rsp", "--offload-arch=gfx1030\n").string();
  std::string outer = dir.write("outer.rsp", "'with blank.hip' -DA=\"x y\" back\\ slash.o @" + inner).string();
  CompileLine line = read({"-c", "@" + outer});
  EXPECT_EQ(line.verbatimArgs, (Words{"-c", "@" + outer}));
  EXPECT_EQ(line.args, (Words{"-c", "with blank.hip", "-DA=x y", "back slash.o", "--offload-arch=gfx1030"}));
  EXPECT_EQ(line.offloadArchs, (Words{"gfx1030"}));
  EXPECT_TRUE(line.hasHipSource());
}

TEST(CompileLine, EndlessResponseFileIsAnError) {
  wavesan::test::TemporaryDirectory dir;
  std::string self = (dir.path() / "self.rsp").string();
  dir.write("self.rsp", "@" + self);
  std::string error;
  readCompileLine({"@" + self}, error);
  EXPECT_NE(error.find("includes itself"), std::string::npos);
}
