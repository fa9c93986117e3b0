// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "temporary_file.h"

#include "wavesan/report/output_file.h"

#include <gtest/gtest.h>

using wavesan::report::OutputFile;
using wavesan::test::TemporaryFile;

TEST(OutputFile, AppendsToAFile) {
  TemporaryFile file("old\n");
  std::string error;
  OutputFile(file.path(), error).write("new\n");
  EXPECT_EQ(error, "");
  EXPECT_EQ(file.read(), "old\nnew\n");
}

TEST(OutputFile, ExpandsTheProcessId) {
  TemporaryFile base;
  std::string error, expanded = base.path() + "." + std::to_string(getpid()) + "%";
  OutputFile(base.path() + ".%p%", error).write("x");
  EXPECT_EQ(error, "");
  EXPECT_EQ(access(expanded.c_str(), F_OK), 0);
  unlink(expanded.c_str());
}

TEST(OutputFile, FallsBackToStderrAndSaysSo) {
  testing::internal::CaptureStderr();
  std::string error;
  OutputFile("/nonexistent/dir/log", error).write("text\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "text\n");
  EXPECT_EQ(error, "log_path: cannot open '/nonexistent/dir/log': No such file or directory; reports go to stderr");
}

TEST(OutputFile, SurvivesTheProgramClosingStderr) {
  TemporaryFile file;
  int saved = dup(STDERR_FILENO);
  ASSERT_TRUE(freopen(file.path().c_str(), "w", stderr));
  std::string error;
  OutputFile out("stderr", error);
  ASSERT_EQ(close(STDERR_FILENO), 0);
  out.write("still there\n");
  dup2(saved, STDERR_FILENO);
  close(saved);
  EXPECT_EQ(file.read(), "still there\n");
}
