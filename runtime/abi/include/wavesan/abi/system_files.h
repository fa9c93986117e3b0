// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which source files are not the user's. Host only.
#ifndef WAVESAN_ABI_SYSTEM_FILES_H
#define WAVESAN_ABI_SYSTEM_FILES_H

#include <string_view>

namespace wavesan::abi {

/// Header files that define HIP itself: __syncthreads() and its like.
inline bool isLanguageFile(std::string_view file) {
  if (file.find("include") != std::string_view::npos)
    for (std::string_view part : {"/hip/", "/lib/clang/", "/hip-clang/"})
      if (file.find(part) != std::string_view::npos)
        return true;
  return false;
}

/// Header files of HIP, of the compiler and of installed libraries: the user cannot change anything there.
inline bool isSystemFile(std::string_view file) {
  return isLanguageFile(file) || file.substr(0, 13) == "/usr/include/" || file.substr(0, 9) == "/opt/rocm";
}

} // namespace wavesan::abi

#endif // WAVESAN_ABI_SYSTEM_FILES_H
