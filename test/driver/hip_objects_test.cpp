// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "build_info.h"
#include "hip_objects.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace wavesan::driver;
namespace fs = std::filesystem;

namespace {

class HipObjects : public testing::Test {
protected:
  void SetUp() override {
    Directory = fs::temp_directory_path() / ("hip_objects_" + std::to_string(::getpid()));
    fs::create_directories(Directory);
  }
  void TearDown() override { fs::remove_all(Directory); }

  std::string file(const std::string &name, const std::string &contents) {
    const std::string path = (Directory / name).string();
    std::ofstream(path, std::ios::binary) << contents;
    return path;
  }
  static bool links(std::vector<std::string> words) {
    std::string error;
    CompileLine line = readCompileLine(words, error);
    EXPECT_EQ(error, "");
    return linksHipObjects(line);
  }

  fs::path Directory;
};

const std::string kHip("\0main\0__hipRegisterFatBinary\0", 29), kHost("\0main\0puts\0", 11);

} // namespace

TEST_F(HipObjects, OneOfTheInputsRegistersGpuCode) {
  const std::string hip = file("k.o", kHip), host = file("main.o", kHost), library = file("libk.a", kHost + kHip);
  EXPECT_TRUE(links({hip, "-o", "a"}));
  EXPECT_TRUE(links({host, hip}));
  EXPECT_TRUE(links({host, library}));
  EXPECT_FALSE(links({host}));
  EXPECT_FALSE(links({host, (Directory / "none.o").string()}));
}

// A program without kernels: devices and memory only.
TEST_F(HipObjects, OneOfTheInputsCallsHip) {
  const auto compiled = [&](const std::string &name, const std::string &source) {
    const std::string text = file(name + ".c", source), object = (Directory / (name + ".o")).string();
    const std::string command =
        std::string(wavesan::driver::kLlvmBinDir) + "/clang -c " + text + " -o " + object + " 2>/dev/null";
    if (std::system(command.c_str()) != 0 && std::system(("cc -c " + text + " -o " + object).c_str()) != 0)
      ADD_FAILURE() << "no C compiler";
    return object;
  };
  const std::string calls =
      compiled("calls", "int hipGetDeviceCount(int *); int f(int *n) { return hipGetDeviceCount(n); }");
  EXPECT_TRUE(links({calls}));
  EXPECT_FALSE(links({calls, "-lamdhip64"}));
  EXPECT_FALSE(links({compiled("loads", "const char *f(void) { return \"hipMalloc\"; }")}));
  EXPECT_FALSE(links({compiled("own", "int hipster(void); int f(void) { return hipster(); }")}));
  EXPECT_FALSE(links({compiled("defines", "int hipMalloc(void) { return 1; }")}));
  // Cut short anywhere.
  std::ifstream in(calls, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  for (size_t size = 0; size < whole.size(); size += 7)
    links({file("cut.o", whole.substr(0, size))});
  for (size_t at = 0; at < std::min<size_t>(whole.size(), 64); ++at) {
    std::string damaged = whole;
    damaged[at] = '\xff';
    links({file("damaged.o", damaged)});
  }
}

TEST_F(HipObjects, WhatTheLineSaysItselfIsLeftAlone) {
  const std::string hip = file("k.o", kHip);
  EXPECT_FALSE(links({hip, "-lamdhip64"}));
  EXPECT_FALSE(links({hip, "-l", "amdhip64"}));
  EXPECT_FALSE(links({hip, "/opt/rocm/lib/libamdhip64.so.6"}));
  EXPECT_FALSE(links({hip, "--hip-link"}));
  EXPECT_FALSE(links({hip, "-nostdlib"}));
  EXPECT_FALSE(links({hip, "-r", "-o", "all.o"}));
  EXPECT_FALSE(links({"-c", hip}));
}
