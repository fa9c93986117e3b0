// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "temporary_file.h"

#include "wavesan/report/output_file.h"

#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

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

TEST(OutputFile, AFullDiskIsSaidAndTheRestGoesToStderr) {
  testing::internal::CaptureStderr();
  std::string error;
  OutputFile out("/dev/full", error);
  EXPECT_EQ(error, "");
  EXPECT_EQ(out.write("first\n"), "log_path: cannot write to '/dev/full': No space left on device");
  EXPECT_EQ(out.write("second\n"), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "wavesan: log_path: cannot write to '/dev/full': No space left on device; reports go to stderr\n"
            "first\nsecond\n");
}

TEST(OutputFile, ABrokenStderrIsAnErrorOnceAndNoSignal) {
  int saved = dup(STDERR_FILENO), ends[2];
  ASSERT_EQ(pipe(ends), 0);
  dup2(ends[1], STDERR_FILENO);
  std::string error;
  OutputFile out("stderr", error);
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(out.write("text\n"), "log_path: cannot write to 'stderr': Broken pipe");
  EXPECT_EQ(out.write("text\n"), "");
}

TEST(OutputFile, AFileSizeLimitEndsNoProgram) {
  TemporaryFile file;
  pid_t child = fork(); // the limit must not hurt the other tests
  if (child == 0) {
    rlimit limit{10, 10}; // SIGXFSZ has its default action: the end of the process
    setrlimit(RLIMIT_FSIZE, &limit);
    std::string error;
    OutputFile out(file.path(), error);
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    error = out.write("more than ten bytes\n");
    _exit(error == "log_path: cannot write to '" + file.path() + "': File too large" ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(OutputFile, LongTextsOfSeveralProcessesDoNotMixInAPipe) {
  int ends[2], lock = memfd_create("lock", 0);
  ASSERT_EQ(pipe(ends), 0);
  constexpr int kProcesses = 4, kTexts = 40;
  constexpr size_t kLength = 20000; // a pipe takes 4096 at once
  for (int p = 0; p < kProcesses; ++p)
    if (fork() == 0) {
      dup2(ends[1], STDERR_FILENO);
      close(ends[0]);
      std::string error;
      OutputFile out("stderr", error, lock);
      for (int i = 0; i < kTexts; ++i)
        out.write(std::string(kLength, char('a' + p)) + "\n");
      _exit(0);
    }
  close(ends[1]);
  std::string all;
  char buffer[65536];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof(buffer))) > 0;)
    all.append(buffer, size_t(n));
  close(ends[0]);
  close(lock);
  while (wait(nullptr) > 0) {
  }
  size_t lines = 0;
  for (size_t at = 0; at < all.size(); at += kLength + 1, ++lines) {
    ASSERT_EQ(all.find_first_not_of(all[at], at), at + kLength) << "line " << lines;
    ASSERT_EQ(all[at + kLength], '\n');
  }
  EXPECT_EQ(lines, size_t(kProcesses * kTexts));
}
