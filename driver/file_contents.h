// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All bytes of a file.
#ifndef WAVESAN_DRIVER_FILE_CONTENTS_H
#define WAVESAN_DRIVER_FILE_CONTENTS_H

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace wavesan::driver {

/// Empty if the file cannot be read.
inline std::string contentsOf(const std::filesystem::path &file) {
  std::ifstream in(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_FILE_CONTENTS_H
