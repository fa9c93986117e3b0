// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks on described machines.
#include "checks.h"
#include "described_machine.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace wavesan::driver;
using wavesan::test::Described;

namespace {

const Compiler kClang{"clang++-22", {22, 1, 8}, false};

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

CompileLine lineFor(std::vector<std::string> words) {
  std::string error;
  return readCompileLine(words, error);
}

} // namespace

TEST(PluginIdentity, IsReadFromAnyPlaceInTheFile) {
  wavesan::test::TemporaryDirectory dir;
  auto file = dir.write("a.so", std::string("\x7f"
                                            "ELF\0junk\nwavesan-plugin ",
                                            25) +
                                    std::string(9000, 'x') + "\nwavesan-plugin version=0.1.0 llvm=19.1 abi=002\nmore");
  std::optional<PluginIdentity> identity = readPluginIdentity(file);
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->version, "0.1.0");
  EXPECT_EQ(identity->llvmMajor, 19);
  EXPECT_EQ(identity->llvmMinor, 1);
  EXPECT_EQ(identity->abi, 2u);
}

TEST(PluginIdentity, DamagedFilesSayNothing) {
  wavesan::test::TemporaryDirectory dir;
  EXPECT_FALSE(readPluginIdentity(dir.path() / "none"));
  for (const char *text :
       {"", "\nwavesan-plugin version=", "\nwavesan-plugin version=0.1.0 llvm=19.1 abi=2",
        "\nwavesan-plugin version=0.1.0 llvm=x abi=2\n", "wavesan-plugin version=1 llvm=1.1 abi=1\n"})
    EXPECT_FALSE(readPluginIdentity(dir.write("a.so", text))) << text;
  EXPECT_FALSE(
      readPluginIdentity(dir.write("a.so", "\nwavesan-plugin version=" + std::string(300, 'v') + " llvm=1.1 abi=1\n")));
}

TEST(PluginIdentity, DecidesWhatTheCompilerMustBe) {
  EXPECT_EQ(pluginTarget(PluginIdentity{"0.1.0", 19, 1, 2}).llvmMajor, 19);
  EXPECT_EQ(pluginTarget(PluginIdentity{"0.1.0", 19, 1, 2}).llvmBinDir, "") << "this build's LLVM is another one";
}

TEST(HipChecks, MissingHeadersAreToldWithTheirPlace) {
  Described d;
  EXPECT_TRUE(contains(checkHip(findHip(d.machine(), CompileLine(), kClang.version)).text, "install libamdhip64-dev"));
  d.variables["ROCM_PATH"] = "/nothing/here";
  Check check = checkHip(findHip(d.machine(), CompileLine(), kClang.version));
  EXPECT_TRUE(check.isProblem());
  EXPECT_TRUE(contains(check.text, "no HIP headers in /nothing/here/include/hip")) << check.text;
}

TEST(HipChecks, RuntimeMustBeThereAndOfTheHeadersVersion) {
  Described d;
  d.oldDebianHip();
  HipInstall hip = findHip(d.machine(), CompileLine(), kClang.version);
  Check check = checkHipRuntime(d.machine(), hip);
  EXPECT_TRUE(check.isProblem());
  EXPECT_TRUE(contains(check.text, "no HIP runtime (libamdhip64.so) found; install libamdhip64-dev")) << check.text;

  const auto real = d.dir.write("usr/lib/x86_64-linux-gnu/libamdhip64.so.5", "");
  check = checkHipRuntime(d.machine(), hip);
  EXPECT_TRUE(check.isProblem());
  EXPECT_TRUE(contains(check.text, "without libamdhip64.so to link with")) << check.text;

  const auto link = real.parent_path() / "libamdhip64.so";
  std::filesystem::create_symlink("libamdhip64.so.5", link);
  EXPECT_FALSE(checkHipRuntime(d.machine(), hip).isProblem());

  std::filesystem::remove(link);
  d.dir.write("usr/lib/x86_64-linux-gnu/libamdhip64.so.6.1.40092", "");
  std::filesystem::create_symlink("libamdhip64.so.6.1.40092", link);
  check = checkHipRuntime(d.machine(), hip);
  EXPECT_TRUE(check.isProblem());
  EXPECT_TRUE(contains(check.text, "headers in /usr are version 5.2.21153")) << check.text;
  EXPECT_TRUE(contains(check.text, "libamdhip64.so.6.1.40092")) << check.text;
}

TEST(DeviceLibraries, TargetsThatTheyServe) {
  Described d;
  d.oldDebianHip();
  d.compiler("usr/bin/clang++-22", "clang++-22", "22.1.8");
  for (const char *isa : {"1030", "90a", "803", "9-generic"})
    d.dir.write(std::string("usr/lib/x86_64-linux-gnu/amdgcn/bitcode/oclc_isa_version_") + isa + ".bc", "");
  CompileLine line = lineFor({"--offload-arch=gfx90a:xnack-", "--offload-arch=gfx1030", "a.hip"});
  HipInstall hip = findHip(d.machine(), line, kClang.version);
  EXPECT_TRUE(checkDeviceLibraries(d.machine(), line, hip, kClang).isProblem()) << "ockl.bc is missing";
  d.dir.write("usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ockl.bc", "");
  Check check = checkDeviceLibraries(d.machine(), line, hip, kClang);
  EXPECT_FALSE(check.isProblem()) << check.text;
  EXPECT_TRUE(contains(check.text, "for gfx90a gfx1030 gfx9-generic in ")) << check.text;

  line = lineFor({"--offload-arch=gfx90a", "--offload-arch=gfx942", "a.hip"});
  check = checkDeviceLibraries(d.machine(), line, hip, kClang);
  EXPECT_TRUE(check.isProblem());
  EXPECT_TRUE(contains(check.text, "do not serve gfx942 (they serve gfx90a gfx1030")) << check.text;
  EXPECT_FALSE(
      checkDeviceLibraries(d.machine(), lineFor({"--offload-arch=gfx9-generic", "a.hip"}), hip, kClang).isProblem());
  EXPECT_FALSE(checkDeviceLibraries(d.machine(), lineFor({"--offload-arch=native", "a.hip"}), hip, kClang).isProblem());
}

TEST(DeviceLibraries, TheUsersDirectoryIsTheOnlyOne) {
  Described d;
  d.oldDebianHip();
  d.dir.write("usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ockl.bc", "");
  CompileLine line = lineFor({"--rocm-device-lib-path=/mine", "a.hip"});
  HipInstall hip = findHip(d.machine(), line, kClang.version);
  Check check = checkDeviceLibraries(d.machine(), line, hip, kClang);
  EXPECT_TRUE(contains(check.text, "(ockl.bc) found in /mine")) << check.text;
  d.dir.write("mine/ockl.bc", "");
  EXPECT_EQ(findDeviceLibraries(d.machine(), line, hip, kClang), "/mine");
}

TEST(Linker, BesideTheCompilerOrInPath) {
  Described d;
  d.dir.write("usr/lib/llvm-22/bin/clang++", "");
  std::filesystem::create_directories(d.dir.path() / "usr/bin");
  std::filesystem::create_symlink("../lib/llvm-22/bin/clang++", d.dir.path() / "usr/bin/clang++-22");
  Check check = checkLinker(d.machine(), kClang);
  EXPECT_TRUE(check.isProblem());
  EXPECT_TRUE(contains(check.text, "install lld-22")) << check.text;

  d.dir.write("usr/bin/lld", "");
  EXPECT_TRUE(contains(checkLinker(d.machine(), kClang).text, "/usr/bin/lld cannot be run as lld"));
  d.compilers["/usr/bin/lld"] = "Debian LLD 14.0.6 (compatible with GNU linkers)";
  check = checkLinker(d.machine(), kClang);
  EXPECT_TRUE(check.isProblem());
  EXPECT_TRUE(contains(check.text, "is LLD 14, older than clang 22.1.8")) << check.text;
  d.compilers["/usr/bin/lld"] = "LLD 22.1.8";
  EXPECT_FALSE(checkLinker(d.machine(), kClang).isProblem());

  d.dir.write("usr/lib/llvm-22/bin/lld", "");
  EXPECT_EQ(checkLinker(d.machine(), kClang).text, "/usr/lib/llvm-22/bin/lld");
}

TEST(Bundler, BesideTheCompilerOrInPath) {
  Described d;
  d.dir.write("usr/lib/llvm-22/bin/clang++", "");
  std::filesystem::create_directories(d.dir.path() / "usr/bin");
  std::filesystem::create_symlink("../lib/llvm-22/bin/clang++", d.dir.path() / "usr/bin/clang++-22");
  const CompileLine line = lineFor({"a.hip"});
  Check check = checkBundler(d.machine(), line, kClang);
  EXPECT_TRUE(check.isProblem());
  EXPECT_TRUE(contains(check.text, "install clang-tools-22")) << check.text;
  d.dir.write("usr/bin/clang-offload-bundler", "");
  EXPECT_EQ(checkBundler(d.machine(), line, kClang).text, "/usr/bin/clang-offload-bundler");
  d.dir.write("usr/lib/llvm-22/bin/clang-offload-bundler", "");
  EXPECT_EQ(checkBundler(d.machine(), line, kClang).text, "/usr/lib/llvm-22/bin/clang-offload-bundler");
  EXPECT_TRUE(checkBundler(d.machine(), lineFor({"--offload-new-driver", "a.hip"}), kClang).isProblem());
  EXPECT_FALSE(checkBundler(d.machine(), lineFor({"--offload-new-driver", "--no-offload-new-driver", "a.hip"}), kClang)
                   .isProblem());
}

TEST(TemporaryDirectory, MustBeWritable) {
  Described d;
  Check check = checkTemporaryDirectory(d.machine());
  EXPECT_TRUE(check.isProblem());
  EXPECT_TRUE(contains(check.text, "/tmp (No such file or directory); set TMPDIR")) << check.text;
  std::filesystem::create_directory(d.dir.path() / "tmp");
  EXPECT_FALSE(checkTemporaryDirectory(d.machine()).isProblem());
  EXPECT_TRUE(std::filesystem::is_empty(d.dir.path() / "tmp"));
  d.variables["TMPDIR"] = "/elsewhere";
  EXPECT_TRUE(contains(checkTemporaryDirectory(d.machine()).text, "change TMPDIR"));
}

TEST(HsaRuntime, IsAProblemOnlyForAGpu) {
  Described d;
  EXPECT_EQ(checkHsaRuntime(d.machine(), false).state, Check::State::Note);
  EXPECT_TRUE(contains(checkHsaRuntime(d.machine(), true).text, "install libhsa-runtime64-1"));
  d.dir.write("opt/rocm/lib/libhsa-runtime64.so.1", "");
  EXPECT_EQ(checkHsaRuntime(d.machine(), true).state, Check::State::Ok);
}

TEST(Gpu, AbsentIsANoteAndUnusableAProblem) {
  Described d;
  EXPECT_EQ(checkGpu(d.machine()).state, Check::State::Note);
  d.dir.write("dev/kfd", "");
  Check check = checkGpu(d.machine());
  EXPECT_TRUE(check.isProblem());
  EXPECT_TRUE(contains(check.text, "groups render and video")) << check.text;
  d.dir.write("sys/class/kfd/kfd/topology/nodes/1/properties", "cpu_cores_count 0\nsimd_count 440\n");
  EXPECT_EQ(checkGpu(d.machine()).state, Check::State::Ok);
}
