// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files: names, what failures and killed processes leave.
#include "trace_session.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

using namespace wavesan::hip;
namespace fs = std::filesystem;

namespace {

class TraceFileTest : public ::testing::Test {
protected:
  void SetUp() override {
    directory = fs::temp_directory_path() / ("wavesan-trace-" + std::to_string(getpid()));
    fs::create_directories(directory);
  }
  void TearDown() override { fs::remove_all(directory); }
  static std::string read(const fs::path &file) {
    std::ostringstream out;
    out << std::ifstream(file).rdbuf();
    return out.str();
  }
  std::string path(const char *name) const { return (directory / name).string(); }

  fs::path directory;
};

} // namespace

TEST_F(TraceFileTest, GetsItsNameWhenComplete) {
  std::ofstream(path("t")) << "of an earlier run";
  TraceFile file(path("t"));
  ASSERT_TRUE(file.isOpen());
  EXPECT_FALSE(fs::exists(path("t"))); // nobody takes an old trace for this one
  file.write("one\n", 1);
  file.write("two\n", 2);
  file.finish();
  EXPECT_EQ(read(path("t")), "one\ntwo\n");
  EXPECT_FALSE(fs::exists(path("t.partial")));
  EXPECT_EQ(file.takeError(), "");
}

TEST_F(TraceFileTest, BufferIsBoundedAndFlushedInTime) {
  TraceFile file(path("t"));
  const std::string piece(1000, 'x');
  for (int i = 0; i < 1000; ++i)
    file.write(piece, 1);
  EXPECT_GE(fs::file_size(path("t.partial")), 900u * 1000);
  file.write("late", 2'000'000'000);
  EXPECT_EQ(fs::file_size(path("t.partial")), 1000u * 1000 + 4);
}

TEST_F(TraceFileTest, UnwritablePlaceIsOneLine) {
  TraceFile file(path("nowhere/t"));
  EXPECT_FALSE(file.isOpen());
  EXPECT_EQ(file.takeError(), "cannot open the trace '" + path("nowhere/t") + "': No such file or directory");
  EXPECT_EQ(file.takeError(), "");
  file.write("ignored", 1);
  file.finish();
}

TEST_F(TraceFileTest, FullDisk) {
  TraceFile file("/dev/full"); // no regular file: written to as it is
  ASSERT_TRUE(file.isOpen());
  file.write("text", 1);
  file.finish();
  EXPECT_EQ(file.takeError(), "cannot write the trace '/dev/full': No space left on device");
  EXPECT_TRUE(fs::exists("/dev/full"));
}

TEST_F(TraceFileTest, AKilledProcessLeavesWholePieces) {
  const pid_t child = fork();
  if (child == 0) {
    TraceFile file(path("t"));
    for (uint64_t i = 0; i < 10'000; ++i)
      file.write("a line of a trace\n", i);
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(fs::exists(path("t")));
  const std::string text = read(path("t.partial"));
  ASSERT_GT(text.size(), 60'000u);
  EXPECT_EQ(text.size() % 18, 0u);
}

TEST(TraceFileName, ProcessIds) {
  EXPECT_EQ(traceFileName("/d/t.csv", 7, 0), "/d/t.csv");
  EXPECT_EQ(traceFileName("/d/t.csv", 7, 7), "/d/t.csv");
  EXPECT_EQ(traceFileName("/d/t.csv", 8, 7), "/d/t.8.csv");
  EXPECT_EQ(traceFileName("/d.x/t", 8, 7), "/d.x/t.8");
  EXPECT_EQ(traceFileName("/d/t-%p.csv", 8, 7), "/d/t-8.csv");
  EXPECT_EQ(traceFileName("/d/%p%", 8, 0), "/d/8%");
}
