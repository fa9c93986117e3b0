// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
