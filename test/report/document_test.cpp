// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "temporary_file.h"

#include "wavesan/report/document.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

using namespace wavesan::report;
using wavesan::test::TemporaryFile;
namespace fs = std::filesystem;

namespace {

std::string contents(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

struct TemporaryDirectory {
  TemporaryDirectory() {
    std::string pattern = fs::temp_directory_path() / "wavesan-test-XXXXXX";
    path = mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { fs::remove_all(path); }
  size_t entries() const { return size_t(std::distance(fs::directory_iterator(path), fs::directory_iterator())); }
  fs::path path;
};

} // namespace

TEST(WriteDocument, ReplacesTheFileAndLeavesNothingElse) {
  TemporaryDirectory dir;
  const std::string path = dir.path / "report.json";
  EXPECT_EQ(writeDocument(path, "old old old"), "");
  struct stat before, after;
  ASSERT_EQ(stat(path.c_str(), &before), 0);
  std::ifstream reader(path); // whoever has the old file open goes on reading the old file
  EXPECT_EQ(writeDocument(path, "new"), "");
  ASSERT_EQ(stat(path.c_str(), &after), 0);
  EXPECT_NE(before.st_ino, after.st_ino);
  std::string old;
  std::getline(reader, old);
  EXPECT_EQ(old, "old old old");
  EXPECT_EQ(contents(path), "new");
  EXPECT_EQ(dir.entries(), 1u);
}

TEST(WriteDocument, FollowsALinkInsteadOfReplacingIt) {
  TemporaryDirectory dir;
  std::ofstream(dir.path / "real") << "old";
  fs::create_symlink(dir.path / "real", dir.path / "link");
  EXPECT_EQ(writeDocument(dir.path / "link", "new"), "");
  EXPECT_TRUE(fs::is_symlink(dir.path / "link"));
  EXPECT_EQ(contents(dir.path / "real"), "new");
}

TEST(WriteDocument, FailureIsOneLineAndKeepsTheOldFile) {
  TemporaryDirectory dir;
  const std::string missing = dir.path / "no" / "such" / "report.json";
  EXPECT_EQ(writeDocument(missing, "x"), "cannot write '" + missing + "': No such file or directory");
  EXPECT_EQ(writeDocument(dir.path, "x"), "cannot write '" + dir.path.string() + "': Is a directory");
  // Not a regular file: written to, never replaced.
  EXPECT_EQ(writeDocument("/dev/full", "x"), "cannot write '/dev/full': No space left on device");
  struct stat info;
  ASSERT_EQ(stat("/dev/full", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

TEST(WriteDocument, AFileThatCannotBeWrittenInFullIsGivenUp) {
  TemporaryDirectory dir;
  const std::string path = dir.path / "report.json";
  ASSERT_EQ(writeDocument(path, "old"), "");
  pid_t child = fork(); // the limit must not hurt the other tests
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::string error = writeDocument(path, std::string(100000, 'x'));
    _exit(error == "cannot write '" + path + "': File too large" ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contents(path), "old");
  EXPECT_EQ(dir.entries(), 1u);
}

TEST(WriteDocument, AReadOnlyDirectoryIsOneLine) {
  TemporaryDirectory dir;
  const std::string path = dir.path / "report.json";
  pid_t child = fork();
  if (child == 0) {
    chmod(dir.path.c_str(), 0555);
    if (geteuid() == 0 && seteuid(65534) != 0) // root may write everywhere
      _exit(2);
    _exit(writeDocument(path, "x") == "cannot write '" + path + "': Permission denied" ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(dir.entries(), 0u);
}

TEST(WriteDocument, AKilledWriterLeavesNothing) {
  TemporaryDirectory dir;
  const std::string path = dir.path / "report.json";
  ASSERT_EQ(writeDocument(path, "old"), "");
  for (int round = 0; round < 20; ++round) {
    pid_t child = fork();
    if (child == 0) {
      const std::string text(size_t(4) << 20, 'x');
      for (;;)
        writeDocument(path, text);
    }
    usleep(useconds_t(1000 + 700 * round));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    const std::string now = contents(path);
    ASSERT_TRUE(now == "old" || now == std::string(size_t(4) << 20, 'x')) << now.size();
    // Between naming and renaming it a whole file can stay behind; never a part of one.
    for (const auto &entry : fs::directory_iterator(dir.path))
      ASSERT_TRUE(entry.path() == path || fs::file_size(entry) == size_t(4) << 20) << entry.path();
  }
}

TEST(WriteDocument, StaleFilesAreRemovedAndOthersAreNot) {
  TemporaryDirectory dir;
  std::ofstream(dir.path / "report") << "old";
  removeStaleDocument(dir.path / "report");
  EXPECT_FALSE(fs::exists(dir.path / "report"));
  removeStaleDocument(dir.path);
  EXPECT_TRUE(fs::exists(dir.path));
  removeStaleDocument("/dev/null");
  EXPECT_TRUE(fs::exists("/dev/null"));
}

TEST(DocumentSink, WritesAtTheSummaryAndContinuesAfterIt) {
  TemporaryDirectory dir;
  const std::string expected = dir.path / ("r" + std::to_string(getpid()) + ".json");
  std::ofstream(expected) << "of an earlier run";
  DocumentSink sink("json_path", dir.path / "r%p.json", "", jsonText);
  EXPECT_FALSE(fs::exists(expected));
  sink.onRace(Race{});
  sink.onMessage("hello");
  Summary s;
  s.checkedAccesses = 5;
  s.noTwin["k"] = 1;
  EXPECT_EQ(sink.onSummary(s), "");
  nlohmann::json first = nlohmann::json::parse(contents(expected));
  EXPECT_EQ(first["races"].size(), 1u);
  sink.onRace(Race{});
  EXPECT_EQ(sink.onSummary(s), "");
  nlohmann::json second = nlohmann::json::parse(contents(expected));
  EXPECT_EQ(second["races"].size(), 2u);
  EXPECT_EQ(second["messages"].size(), 1u);
  EXPECT_EQ(second["summary"]["checkedAccesses"], 10);
  EXPECT_EQ(second["summary"]["uninstrumentedKernels"][0]["dispatches"], 2);
}

TEST(DocumentSink, FailureNamesTheOption) {
  DocumentSink sink("sarif_path", "/no/such/directory/r.sarif", "", sarifText);
  EXPECT_EQ(sink.onSummary(Summary{}),
            "sarif_path: cannot write '/no/such/directory/r.sarif': No such file or directory");
}
