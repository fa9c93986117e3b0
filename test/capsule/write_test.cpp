// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing capsules: whole or not at all.
#include "capsule_file.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sys/resource.h>
#include <unistd.h>

namespace wavesan::capsule::test {
namespace {

namespace fs = std::filesystem;

class WriteCapsule : public ::testing::Test {
protected:
  void SetUp() override { fs::create_directories(Directory); }
  void TearDown() override { fs::remove_all(Directory); }
  size_t filesLeft() const {
    return size_t(std::distance(fs::directory_iterator(Directory), fs::directory_iterator()));
  }
  const fs::path Directory = fs::path(::testing::TempDir()) / ("capsules" + std::to_string(getpid()));
};

std::string noise(size_t bytes) {
  std::mt19937_64 random(5);
  std::string text(bytes, '\0');
  for (char &c : text)
    c = char(random());
  return text;
}

TEST_F(WriteCapsule, ReadsBackAsItWas) {
  const Capsule c = sample();
  const std::string path = (Directory / "a.capsule").string();
  ASSERT_EQ(writeCapsule(path, c), "");
  EXPECT_EQ(filesLeft(), 1u);
  std::string error;
  const std::optional<Capsule> back = readCapsule(path, kLimit, error);
  ASSERT_TRUE(back) << error;
  EXPECT_EQ(back->version, c.version);
  EXPECT_EQ(back->target, c.target);
  EXPECT_EQ(back->options, c.options);
  EXPECT_EQ(back->dispatch.kernel, c.dispatch.kernel);
  EXPECT_EQ(back->dispatch.dimensions, 2u);
  EXPECT_TRUE(std::equal(back->dispatch.grid, back->dispatch.grid + 3, c.dispatch.grid));
  EXPECT_TRUE(std::equal(back->dispatch.workgroup, back->dispatch.workgroup + 3, c.dispatch.workgroup));
  EXPECT_EQ(back->dispatch.groupBytes, 512u);
  EXPECT_EQ(back->dispatch.number, 3u);
  EXPECT_EQ(back->loadAddress, c.loadAddress);
  EXPECT_EQ(back->descriptorOffset, c.descriptorOffset);
  EXPECT_EQ(back->expectedDigest, c.expectedDigest);
  EXPECT_EQ(back->queuePointers, c.queuePointers);
  EXPECT_EQ(back->codeObject, c.codeObject);
  EXPECT_EQ(back->arguments, c.arguments);
  EXPECT_EQ(back->signature, c.signature);
  ASSERT_EQ(back->regions.size(), c.regions.size());
  for (size_t i = 0; i < c.regions.size(); ++i) {
    EXPECT_EQ(back->regions[i].place, c.regions[i].place);
    EXPECT_EQ(back->regions[i].address, c.regions[i].address);
    EXPECT_EQ(back->regions[i].kind, c.regions[i].kind);
    EXPECT_EQ(back->regions[i].number, c.regions[i].number);
    EXPECT_EQ(back->regions[i].bytes, c.regions[i].bytes);
  }
  EXPECT_EQ(back->memoryBytes(), 100016u);
}

/// Sizes around those of zlib's and the writer's buffers.
TEST_F(WriteCapsule, MemoryOfAllSizes) {
  const std::string path = (Directory / "a.capsule").string(), bytes = noise((512 << 10) + 7);
  for (const size_t size : {size_t(1), size_t(4096), size_t(256 << 10), size_t((256 << 10) - 100), bytes.size()}) {
    Capsule c = sample();
    c.regions = {{Region::Place::Address, 0x10000, 1, 1, std::string_view(bytes).substr(0, size)}};
    ASSERT_EQ(writeCapsule(path, c), "");
    std::string error;
    const std::optional<Capsule> back = readCapsule(path, kLimit, error);
    ASSERT_TRUE(back) << error;
    EXPECT_EQ(back->regions[0].bytes, c.regions[0].bytes);
  }
}

TEST_F(WriteCapsule, NoSuchDirectory) {
  const std::string why = writeCapsule((Directory / "none" / "a.capsule").string(), sample());
  EXPECT_NE(why.find("No such file or directory"), std::string::npos) << why;
}

/// What a full disk does: the write fails in the middle. The old file stays.
TEST_F(WriteCapsule, FullDiskLeavesNothingHalfWritten) {
  const std::string path = (Directory / "a.capsule").string(), bytes = noise(1 << 20);
  ASSERT_EQ(writeCapsule(path, sample()), "");
  Capsule large = sample();
  large.regions[0].bytes = bytes;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{64 << 10, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string why = writeCapsule(path, large); // the signal of the limit must not end the process either
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_NE(why.find("File too large"), std::string::npos) << why;
  EXPECT_EQ(filesLeft(), 1u);
  std::string error;
  EXPECT_TRUE(readCapsule(path, kLimit, error)) << error;
}

TEST_F(WriteCapsule, DirectoryInPlaceOfTheFile) {
  const std::string path = (Directory / "a.capsule").string();
  fs::create_directory(path);
  EXPECT_NE(writeCapsule(path, sample()), "");
  EXPECT_EQ(filesLeft(), 1u);
  std::string error;
  EXPECT_FALSE(readCapsule(path, kLimit, error));
  EXPECT_EQ(error, path + ": not a file");
  EXPECT_FALSE(readCapsule(path + "x", kLimit, error));
  EXPECT_EQ(error, path + "x: No such file or directory");
}

} // namespace
} // namespace wavesan::capsule::test
