// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every fuzz target needs: properties whose violation ends the process, as a sanitizer's finding does.
#ifndef WAVESAN_TEST_FUZZ_TARGET_H
#define WAVESAN_TEST_FUZZ_TARGET_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

/// What libFuzzer calls, and standalone_main.cpp where there is no libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace wavesan::fuzz {

inline void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "property violated: %s\n", what);
  std::abort();
}

/// Error messages are one line without control characters, and there is always one.
inline void requireOneLine(const std::string &error) {
  require(!error.empty(), "an error without a message");
  for (char c : error)
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "an error message of more than one line");
}

} // namespace wavesan::fuzz

#endif // WAVESAN_TEST_FUZZ_TARGET_H
