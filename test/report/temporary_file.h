// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef WAVESAN_TEST_TEMPORARY_FILE_H
#define WAVESAN_TEST_TEMPORARY_FILE_H

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace wavesan::test {

/// A file in the temporary directory, removed at the end of its scope.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &contents = "") {
    std::string pattern = std::string(std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/tmp") + "/wavesan-test-XXXXXX";
    int fd = mkstemp(pattern.data());
    if (fd < 0)
      std::abort();
    close(fd);
    Path = pattern;
    std::ofstream(Path, std::ios::binary) << contents;
  }
  ~TemporaryFile() { unlink(Path.c_str()); }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  const std::string &path() const { return Path; }
  std::string read() const {
    std::ostringstream text;
    text << std::ifstream(Path, std::ios::binary).rdbuf();
    return text.str();
  }

private:
  std::string Path;
};

} // namespace wavesan::test

#endif // WAVESAN_TEST_TEMPORARY_FILE_H
