// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What doctor finds, `cc` and `run` say with the same line: the real command in a made-up installation, with made-up
// compilers and a made-up HIP.
#include "build_info.h"
#include "shell_quote.h"
#include "temporary_directory.h"

#include "wavesan/abi/hooks.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;
using wavesan::driver::kLlvmMajor;
using wavesan::driver::kLlvmMinor;
using wavesan::driver::kVersion;
using Words = std::vector<std::string>;

namespace {

struct Ended {
  int status = -1;
  std::string out, err;
};

std::string pluginText(const std::string &version, int major, int minor, unsigned abi) {
  return "\x7f"
         "ELF\nwavesan-plugin version=" +
         version + " llvm=" + std::to_string(major) + "." + std::to_string(minor) + " abi=" + std::to_string(abi) +
         "\n";
}

/// A complete made-up installation; a test takes one thing away.
class Doctor : public testing::Test {
protected:
  Doctor() {
    fs::create_directories(Dir.path() / "bin");
    fs::copy_file(WAVESAN_TEST_COMMAND, Dir.path() / "bin/wavesan");
    fs::create_symlink("wavesan", Dir.path() / "bin/wavesan-c++");
    for (const char *name : {"libwavesan-hsa.so", "cpu-agent/libhsa-runtime64.so.1", "wavesan-check"})
      Dir.write(std::string("lib/wavesan/") + name, "\x7f"
                                                    "ELF");
    Dir.write("lib/wavesan/include/wavesan_hip_compat.h", "");
    Dir.write("lib/wavesan/libwavesan-pass.so",
              pluginText(kVersion, kLlvmMajor, kLlvmMinor, wavesan::abi::kAbiVersion));
    compiler("clang++-" + std::to_string(kLlvmMajor), kLlvmMajor, kLlvmMinor);
    Dir.write("tools/lld", "#!/bin/sh\necho LLD " + std::to_string(kLlvmMajor) + ".9\n", true);
    Dir.write("tools/clang-offload-bundler", "", true);
    Dir.write("rocm/include/hip/hip_version.h",
              "#define HIP_VERSION_MAJOR 7\n#define HIP_VERSION_MINOR 1\n#define HIP_VERSION_PATCH 3\n");
    Dir.write("rocm/lib/libamdhip64.so.7.1.3", "");
    fs::create_symlink("libamdhip64.so.7.1.3", Dir.path() / "rocm/lib/libamdhip64.so");
    for (const char *name : {"ockl.bc", "oclc_isa_version_90a.bc"})
      Dir.write(std::string("rocm/amdgcn/bitcode/") + name, "");
    fs::create_directories(Dir.path() / "tmp");
    Environment = {{"PATH", at("tools")}, {"ROCM_PATH", at("rocm")}, {"TMPDIR", at("tmp")}};
  }

  std::string at(const std::string &name) const { return (Dir.path() / name).string(); }

  /// A compiler that says its version and, when it compiles, its arguments.
  void compiler(const std::string &name, int major, int minor) {
    Dir.write("tools/" + name,
              "#!/bin/sh\n[ \"$*\" = --version ] && echo 'clang version " + std::to_string(major) + "." +
                  std::to_string(minor) + ".9' && exit 0\necho COMPILED $0 $*\n",
              true);
  }

  Ended run(Words words, const std::string &command = "bin/wavesan") {
    words.insert(words.begin(), at(command));
    std::string line = "env -i";
    for (const auto &[name, value] : Environment)
      line += " " + wavesan::driver::shellQuote(name + "=" + value);
    line += " " + wavesan::driver::shellQuote(words) + " >" + at("out") + " 2>" + at("err");
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text("out"), text("err")};
  }

  std::string text(const std::string &name) {
    std::ifstream in(Dir.path() / name);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  /// State and text of one of doctor's checks.
  std::pair<std::string, std::string> diagnosed(const std::string &name, Words words = {}) {
    words.insert(words.begin(), {"doctor", "--json"});
    const auto document = nlohmann::json::parse(run(words).out);
    for (const auto &check : document["checks"])
      if (check["name"] == name)
        return {check["state"], check["text"]};
    return {"absent", ""};
  }

  /// Doctor finds `name` wrong with a line that contains `part`; `cc` refuses with that very line and compiles nothing.
  void expectRefused(const std::string &name, const std::string &part, const Words &arguments) {
    const auto [state, text] = diagnosed(name, arguments);
    EXPECT_EQ(state, "problem") << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
    Words words = arguments;
    words.insert(words.begin(), "cc");
    Ended e = run(words);
    EXPECT_EQ(e.status, 2);
    EXPECT_EQ(e.err, "wavesan: error: " + text + "\n");
    EXPECT_EQ(e.out, "");
  }

  wavesan::test::TemporaryDirectory Dir;
  std::map<std::string, std::string> Environment;
};

const Words kCompile = {"--offload-arch=gfx90a", "a.hip", "-o", "a"};

} // namespace

TEST_F(Doctor, TheCompleteInstallationCompiles) {
  for (const char *name : {"plugin", "compiler", "linker", "bundler", "hip-headers", "hip-runtime", "device-libraries",
                           "temporary-directory", "compat-header", "wait-checker"})
    EXPECT_EQ(diagnosed(name, kCompile).first, "ok") << name << ": " << diagnosed(name, kCompile).second;
  Ended e = run({"cc", "--offload-arch=gfx90a", "a.hip"});
  EXPECT_EQ(e.status, 0) << e.err;
  EXPECT_NE(e.out.find("-fpass-plugin=" + at("lib/wavesan/libwavesan-pass.so")), std::string::npos) << e.out;
}

TEST_F(Doctor, TextAndJsonAgreeOnTheStatus) {
  // The libraries of this made-up installation cannot be loaded.
  Ended text = run({"doctor"}), json = run({"doctor", "--json"});
  EXPECT_EQ(text.status, 1);
  EXPECT_EQ(json.status, 1);
  EXPECT_NE(text.out.find("\nproblem  cpu-agent            the CPU agent cannot be loaded ("), std::string::npos)
      << text.out;
  const auto document = nlohmann::json::parse(json.out);
  EXPECT_EQ(document["schema"], "wavesan-doctor");
  EXPECT_EQ(document["version"], 1);
  EXPECT_EQ(document["ok"], false);
  EXPECT_EQ(document["targets"], nlohmann::json({"gfx90a"}));
  EXPECT_EQ(run({"doctor", "--help"}).status, 0);
}

TEST_F(Doctor, MissingPlugin) {
  fs::remove(at("lib/wavesan/libwavesan-pass.so"));
  expectRefused("plugin", "the compiler plugin is missing", kCompile);
}

TEST_F(Doctor, DamagedPlugin) {
  Dir.write("lib/wavesan/libwavesan-pass.so", "text");
  expectRefused("plugin", "is no WaveSan plugin", kCompile);
}

TEST_F(Doctor, PluginOfAnotherWaveSan) {
  Dir.write("lib/wavesan/libwavesan-pass.so", pluginText("0.0.9", kLlvmMajor, kLlvmMinor, 1));
  expectRefused("plugin", "is of WaveSan 0.0.9 (ABI 1)", kCompile);
}

TEST_F(Doctor, PluginForAnotherLlvm) {
  Dir.write("lib/wavesan/libwavesan-pass.so", pluginText(kVersion, 19, 1, wavesan::abi::kAbiVersion));
  expectRefused("compiler", "no clang++ of LLVM 19.1 (for which the plugin was built) in PATH", kCompile);
  compiler("clang++-19", 19, 1);
  EXPECT_EQ(diagnosed("compiler").first, "ok");
  EXPECT_NE(run({"cc", "--offload-arch=gfx90a", "a.hip"}).out.find("COMPILED " + at("tools/clang++-19")),
            std::string::npos);
}

TEST_F(Doctor, AnotherPluginByEnvironment) {
  Environment["WAVESAN_PLUGIN"] = Dir.write("p19.so", pluginText(kVersion, 19, 1, wavesan::abi::kAbiVersion)).string();
  expectRefused("compiler", "no clang++ of LLVM 19.1", kCompile);
  Environment["WAVESAN_PLUGIN"] = at("none.so");
  expectRefused("plugin", at("none.so"), kCompile);
}

TEST_F(Doctor, CompilerOfAnotherLlvm) {
  compiler("clang++-" + std::to_string(kLlvmMajor), kLlvmMajor, kLlvmMinor + 1);
  if (fs::exists(std::string(wavesan::driver::kLlvmBinDir) + "/clang++"))
    EXPECT_EQ(diagnosed("compiler").first, "ok") << "the LLVM of this build is used";
  Environment["WAVESAN_CXX"] = at("tools/clang++-" + std::to_string(kLlvmMajor));
  expectRefused("compiler", "but the plugin was built for LLVM", kCompile);
  Environment["WAVESAN_CXX"] = at("none");
  expectRefused("compiler", "cannot be run as a clang++", kCompile);
}

TEST_F(Doctor, MissingHip) {
  Environment["ROCM_PATH"] = at("nowhere");
  expectRefused("hip-headers", "no HIP headers in " + at("nowhere"), kCompile);
}

TEST_F(Doctor, HipRuntimeOfAnotherVersion) {
  fs::remove(at("rocm/lib/libamdhip64.so"));
  Dir.write("rocm/lib/libamdhip64.so.6.2.1", "");
  fs::create_symlink("libamdhip64.so.6.2.1", Dir.path() / "rocm/lib/libamdhip64.so");
  expectRefused("hip-runtime", "are version 7.1.3, but the library", kCompile);
  Words compileOnly = {"cc", "--offload-arch=gfx90a", "-c", "a.hip"};
  EXPECT_EQ(run(compileOnly).status, 0) << "nothing is linked";

  // A program that never reached WaveSan is told the same.
  Ended e = run({"run", "--device=cpu", "/bin/true"});
  EXPECT_NE(e.err.find("wavesan: " + diagnosed("hip-runtime").second + "\n"), std::string::npos) << e.err;
}

TEST_F(Doctor, MissingDeviceLibraries) {
  fs::remove(at("rocm/amdgcn/bitcode/ockl.bc"));
  expectRefused("device-libraries", "no AMD device libraries", kCompile);
  Environment["HIP_DEVICE_LIB_PATH"] = at("tmp");
  expectRefused("device-libraries", "no AMD device libraries", kCompile);
}

TEST_F(Doctor, DeviceLibrariesWithoutTheTarget) {
  expectRefused("device-libraries", "do not serve gfx942 (they serve gfx90a)",
                {"--offload-arch=gfx90a", "--offload-arch=gfx942", "a.hip"});
}

TEST_F(Doctor, MissingLinker) {
  fs::remove(at("tools/lld"));
  expectRefused("linker", "install lld-" + std::to_string(kLlvmMajor), kCompile);
  EXPECT_EQ(run({"cc", "--offload-arch=gfx90a", "-S", "a.hip"}).status, 0) << "-S links no device code";
}

TEST_F(Doctor, MissingBundler) {
  fs::remove(at("tools/clang-offload-bundler"));
  expectRefused("bundler", "no clang-offload-bundler beside", kCompile);
  expectRefused("bundler", "install clang-tools-" + std::to_string(kLlvmMajor), kCompile);
  EXPECT_EQ(run({"cc", "--offload-arch=gfx90a", "-fsyntax-only", "a.hip"}).status, 0) << "nothing is joined";
  Words newDriver = kCompile;
  newDriver.push_back("--offload-new-driver");
  expectRefused("bundler", "no clang-linker-wrapper beside", newDriver);
  Dir.write("tools/clang-linker-wrapper", "", true);
  EXPECT_EQ(diagnosed("bundler", newDriver).first, "ok");
}

TEST_F(Doctor, OldLinker) {
  fs::remove(at("tools/lld"));
  Dir.write("elsewhere/lld", "#!/bin/sh\necho LLD 14.0.6\n", true);
  Environment["PATH"] += ":" + at("elsewhere");
  expectRefused("linker", "is LLD 14, older than clang", kCompile);
}

TEST_F(Doctor, TemporaryDirectory) {
  Environment["TMPDIR"] = at("nowhere");
  expectRefused("temporary-directory", "change TMPDIR", kCompile);
}

TEST_F(Doctor, MissingCompatHeader) {
  fs::remove(at("lib/wavesan/include/wavesan_hip_compat.h"));
  Dir.write("rocm/include/hip/amd_detail/amd_hip_fp16.h", "__llvm_amdgcn_rcp_f16(x)");
  expectRefused("compat-header", "the header for old HIP versions is missing", kCompile);
}

TEST_F(Doctor, MissingAndDamagedLibrariesOfRun) {
  for (auto [name, file] : {std::pair<std::string, std::string>("hsa-tool", "lib/wavesan/libwavesan-hsa.so"),
                            {"cpu-agent", "lib/wavesan/cpu-agent/libhsa-runtime64.so.1"}})
    for (bool damaged : {true, false}) {
      if (damaged)
        Dir.write(file, "text");
      else
        fs::remove(at(file));
      const auto [state, text] = diagnosed(name);
      EXPECT_EQ(state, "problem");
      EXPECT_NE(text.find(damaged ? "is damaged" : "is missing"), std::string::npos) << text;
      Ended e = run({"run", "--device=cpu", "/bin/echo", "ran"});
      EXPECT_EQ(e.status, 2);
      EXPECT_EQ(e.out, "");
      EXPECT_EQ(e.err, "wavesan: error: " + text + "\n");
      Dir.write(file, "\x7f"
                      "ELF");
    }
}

TEST_F(Doctor, LibrariesThatCannotBeLoadedAreNamedAfterTheRun) {
  Ended e = run({"run", "--device=cpu", "/bin/true"});
  EXPECT_NE(e.err.find("wavesan: " + diagnosed("cpu-agent").second + "\n"), std::string::npos) << e.err;
  EXPECT_NE(e.err.find("wavesan: " + diagnosed("hsa-tool").second + "\n"), std::string::npos) << e.err;
}

TEST_F(Doctor, MissingWaitChecker) {
  fs::remove(at("lib/wavesan/wavesan-check"));
  const auto [state, text] = diagnosed("wait-checker");
  EXPECT_EQ(state, "problem");
  EXPECT_EQ(run({"check", "a.out"}).err, "wavesan: error: " + text + "\n");
}

TEST_F(Doctor, PlainSourcesNeedNoneOfThis) {
  fs::remove(at("lib/wavesan/libwavesan-pass.so"));
  fs::remove(at("tools/lld"));
  fs::remove_all(at("rocm"));
  const std::string clang = "clang++-" + std::to_string(kLlvmMajor);
  Ended e = run({"-O2", "-c", "a.cpp", "-o", "a.o"}, "bin/wavesan-c++");
  EXPECT_EQ(e.status, 0) << e.err;
  EXPECT_EQ(e.out, "COMPILED " + at("tools/" + clang) + " -O2 -c a.cpp -o a.o\n");
  EXPECT_EQ(e.err, "");
  EXPECT_EQ(run({"c++", "-c", "a.cpp"}).out, "COMPILED " + at("tools/" + clang) + " -c a.cpp\n");
}

TEST_F(Doctor, ANamedCompilerKeepsWhatIsNoHip) {
  compiler("g++", 0, 0);
  Ended e = run({"cc", "--gpu=gfx90a", "--with=-O3", "g++", "-c", "a.cpp"});
  EXPECT_EQ(e.out, "COMPILED " + at("tools/g++") + " -c a.cpp\n") << e.err;
  e = run({"cc", "--gpu=gfx90a", "--with=-O3", "g++", "-x", "hip", "-c", "a.cpp"});
  EXPECT_NE(e.out.find("COMPILED " + at("tools/clang++-")), std::string::npos) << e.out << e.err;
  EXPECT_NE(e.out.find(" --offload-arch=gfx90a -O3 -x hip -c a.cpp\n"), std::string::npos) << e.out;
  // Our own name in front is none: a build that uses wavesan-c++ already, under the launcher.
  e = run({"cc", "--gpu=gfx90a", at("bin/wavesan-c++"), "-c", "a.hip"});
  EXPECT_NE(e.out.find(" --offload-arch=gfx90a -c a.hip\n"), std::string::npos) << e.out << e.err;
  // What the line itself names wins.
  e = run({"cc", "--gpu=gfx90a", "g++", "--offload-arch=gfx1030", "-nogpulib", "-c", "a.hip"});
  EXPECT_EQ(e.out.find("gfx90a"), std::string::npos) << e.out;
}

TEST_F(Doctor, ACompilerHasNoOptionsOfItsOwn) {
  EXPECT_EQ(run({"--help"}, "bin/wavesan-c++").out,
            "COMPILED " + at("tools/clang++-" + std::to_string(kLlvmMajor)) + " --help\n");
  EXPECT_NE(run({"--version"}, "bin/wavesan-c++").out.find("clang version"), std::string::npos);
}
