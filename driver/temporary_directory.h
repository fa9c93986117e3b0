// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef WAVESAN_DRIVER_TEMPORARY_DIRECTORY_H
#define WAVESAN_DRIVER_TEMPORARY_DIRECTORY_H

#include <cstdlib>
#include <filesystem>
#include <string>

namespace wavesan::driver {

/// A directory of this command's own, which is gone afterwards.
class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "wavesan-run-XXXXXX").string();
    if (mkdtemp(pattern.data()))
      Path = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ec;
    if (!Path.empty())
      std::filesystem::remove_all(Path, ec);
  }
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;
  const std::string &path() const { return Path; } ///< empty: it could not be made

private:
  std::string Path;
};

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_TEMPORARY_DIRECTORY_H
