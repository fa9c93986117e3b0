// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Detection on described machines.
#include "described_machine.h"

#include <gtest/gtest.h>

using namespace wavesan::driver;
using wavesan::test::Described;

namespace {

constexpr Version kClang22{22, 1, 8};
const PluginTarget kTarget{22, 1, "/usr/lib/llvm-22/bin"};

std::optional<Compiler> find(Described &d, const std::string &named, std::string &note, std::string &error) {
  return findCompiler(d.machine(), kTarget, named, note, error);
}

} // namespace

TEST(ClangVersion, IsReadFromVersionText) {
  auto v = clangVersionIn("Debian clang version 22.1.8 (1~deb12u1)\nTarget: x86_64\n");
  ASSERT_TRUE(v);
  EXPECT_EQ(v->text(), "22.1.8");
  EXPECT_EQ(clangVersionIn("HIP version: 5.2\nclang version 15.0.6")->major, 15);
  EXPECT_EQ(clangVersionIn("AMD clang version 22.0.0git")->major, 22);
  EXPECT_FALSE(clangVersionIn("g++ (Debian 12.2.0) 12.2.0"));
  EXPECT_FALSE(clangVersionIn(""));
}

TEST(FindCompiler, PrefersTheVersionedName) {
  Described d;
  d.compiler("usr/bin/clang++", "clang++", "14.0.6");
  d.compiler("usr/bin/clang++-22", "clang++-22", "22.1.8");
  std::string note, error;
  auto c = find(d, "", note, error);
  ASSERT_TRUE(c) << error;
  EXPECT_EQ(c->command, "clang++-22");
  EXPECT_EQ(note, "");
}

TEST(FindCompiler, FallsBackToTheBuildsLlvmAndToRocm) {
  std::string note, error;
  {
    Described d;
    d.compiler("usr/lib/llvm-22/bin/clang++", "/usr/lib/llvm-22/bin/clang++", "22.1.8");
    EXPECT_EQ(find(d, "", note, error)->command, "/usr/lib/llvm-22/bin/clang++");
  }
  Described d;
  d.compiler("opt/rocm/llvm/bin/clang++", "/opt/rocm/llvm/bin/clang++", "22.1.0");
  EXPECT_EQ(find(d, "", note, error)->command, "/opt/rocm/llvm/bin/clang++");
}

TEST(FindCompiler, KeepsTheNamedCompilerWhereItMatches) {
  Described d;
  d.compiler("usr/bin/clang++-22", "clang++-22", "22.1.8");
  d.compiler("usr/bin/hipcc", "hipcc", "22.1.2");
  std::string note, error;
  auto c = find(d, "hipcc", note, error);
  ASSERT_TRUE(c) << error;
  EXPECT_EQ(c->command, "hipcc");
  EXPECT_TRUE(c->isHipcc);
}

TEST(FindCompiler, ReplacesANamedCompilerOfAnotherLlvmAndSaysSo) {
  Described d;
  d.compiler("usr/bin/clang++-22", "clang++-22", "22.1.8");
  d.compiler("usr/bin/hipcc", "hipcc", "15.0.6");
  std::string note, error;
  auto c = find(d, "hipcc", note, error);
  ASSERT_TRUE(c) << error;
  EXPECT_EQ(c->command, "clang++-22");
  EXPECT_FALSE(c->isHipcc);
  EXPECT_NE(note.find("hipcc uses clang 15.0.6"), std::string::npos);
}

TEST(FindCompiler, NamesWhatItFoundWhenNothingMatches) {
  Described d;
  d.compiler("usr/bin/clang++", "clang++", "14.0.6");
  std::string note, error;
  EXPECT_FALSE(find(d, "", note, error));
  EXPECT_NE(error.find("LLVM 22.1"), std::string::npos) << error;
  EXPECT_NE(error.find("clang++ 14.0.6"), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos);
}

TEST(FindCompiler, EnvironmentChoosesOrFails) {
  Described d;
  d.compiler("usr/bin/clang++-22", "clang++-22", "22.1.8");
  d.compilers["/my/clang++"] = "clang version 22.1.1";
  d.compilers["/old/clang++"] = "clang version 19.1.1";
  std::string note, error;
  d.variables["WAVESAN_CXX"] = "/my/clang++";
  EXPECT_EQ(find(d, "", note, error)->command, "/my/clang++");
  d.variables["WAVESAN_CXX"] = "/old/clang++";
  EXPECT_FALSE(find(d, "", note, error));
  EXPECT_NE(error.find("19.1.1"), std::string::npos) << error;
  d.variables["WAVESAN_CXX"] = "/none/clang++";
  EXPECT_FALSE(find(d, "", note, error));
}

TEST(FindHip, OldDebianNeedsEveryRepair) {
  Described d;
  d.oldDebianHip();
  HipInstall hip = findHip(d.machine(), CompileLine(), kClang22);
  EXPECT_EQ(hip.rocmPath, "/usr");
  EXPECT_EQ(hip.version.text(), "5.2.21153");
  EXPECT_EQ(hip.deviceLibPath, "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode");
  EXPECT_TRUE(hip.headersNeedWaveSize && hip.headersNeedRcpF16 && hip.needsCodeObjectV4);
  EXPECT_EQ(hip.fenceBitcode, "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/hip.bc");
  EXPECT_EQ(hip.denormalBitcodeOff, "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/oclc_daz_opt_off.bc");
}

TEST(FindHip, OlderClangStillDefinesTheWaveSize) {
  Described d;
  d.oldDebianHip();
  EXPECT_FALSE(findHip(d.machine(), CompileLine(), Version{21, 1, 0}).headersNeedWaveSize);
}

TEST(FindHip, NewRocmNeedsNothing) {
  Described d;
  d.oldDebianHip(); // also installed, and not used
  d.dir.write("opt/rocm/include/hip/hip_version.h", "#define HIP_VERSION_MAJOR 7\n#define HIP_VERSION_MINOR 1\n");
  d.dir.write("opt/rocm/include/hip/amd_detail/amd_warp_functions.h", "struct WarpSize;");
  d.dir.write("opt/rocm/amdgcn/bitcode/ocml.bc", "");
  HipInstall hip = findHip(d.machine(), CompileLine(), kClang22);
  EXPECT_EQ(hip.versionRoot, "/opt/rocm");
  EXPECT_EQ(hip.version.major, 7);
  EXPECT_EQ(hip.rocmPath, "");
  EXPECT_EQ(hip.deviceLibPath, "");
  EXPECT_FALSE(hip.headersNeedWaveSize || hip.headersNeedRcpF16 || hip.needsCodeObjectV4);
  EXPECT_EQ(hip.fenceBitcode + hip.denormalBitcodeOff, "");
}

TEST(FindHip, TheUsersPathsAreKept) {
  Described d;
  d.oldDebianHip();
  CompileLine line;
  line.rocmPath = "/usr";
  line.hasDeviceLibPath = true;
  HipInstall hip = findHip(d.machine(), line, kClang22);
  EXPECT_EQ(hip.rocmPath, "");
  EXPECT_EQ(hip.deviceLibPath, "");
  EXPECT_TRUE(hip.needsCodeObjectV4) << "the installation is the same";
}

TEST(FindHip, NewestOptRocm) {
  Described d;
  d.dir.write("opt/rocm-6.1.0/include/hip/hip_version.h", "");
  d.dir.write("opt/rocm-6.4.2/include/hip/hip_version.h", "");
  EXPECT_EQ(findHip(d.machine(), CompileLine(), kClang22).versionRoot, "/opt/rocm-6.4.2");
  d.variables["ROCM_PATH"] = "/opt/rocm-6.1.0";
  EXPECT_EQ(findHip(d.machine(), CompileLine(), kClang22).versionRoot, "/opt/rocm-6.1.0");
}

TEST(FindHip, NothingInstalled) {
  Described d;
  EXPECT_EQ(findHip(d.machine(), CompileLine(), kClang22).versionRoot, "");
}

TEST(WaveSize, FollowsTheTarget) {
  for (const char *arch : {"gfx600", "gfx803", "gfx900", "gfx90a", "gfx90a:sramecc+:xnack-", "gfx942", "gfx950",
                           "gfx9-generic", "gfx9-4-generic"})
    EXPECT_EQ(waveSizeOf(arch, false), 64) << arch;
  for (const char *arch : {"gfx1010", "gfx1030", "gfx1100", "gfx1201", "gfx1250", "gfx11-generic", "gfx10-3-generic"})
    EXPECT_EQ(waveSizeOf(arch, false), 32) << arch;
  EXPECT_EQ(waveSizeOf("gfx1030", true), 64);
  for (const char *arch : {"native", "sm_80", "gfx", "gfxabc", "amdgcnspirv", "gfx12"})
    EXPECT_FALSE(waveSizeOf(arch, false)) << arch;
}
