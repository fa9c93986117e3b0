// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A directory for one test, removed at its end.
#ifndef WAVESAN_TEST_TEMPORARY_DIRECTORY_H
#define WAVESAN_TEST_TEMPORARY_DIRECTORY_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace wavesan::test {

class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "wavesan-test-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      std::abort();
    Path = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ec;
    std::filesystem::remove_all(Path, ec);
  }
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

  const std::filesystem::path &path() const { return Path; }

  /// Writes a file below the directory; creates what lies between. Returns its path.
  std::filesystem::path write(const std::filesystem::path &name, const std::string &text,
                              bool executable = false) const {
    std::filesystem::path file = Path / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    if (executable)
      std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }

private:
  std::filesystem::path Path;
};

} // namespace wavesan::test

#endif // WAVESAN_TEST_TEMPORARY_DIRECTORY_H
