// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any text as WAVESAN_OPTIONS.
#include "fuzz_target.h"

#include "wavesan/abi/options.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace wavesan;
  abi::Options options;
  abi::OptionErrors errors;
  abi::parseOptions(options, {reinterpret_cast<const char *>(data), size}, errors);
  for (const std::vector<std::string> *lines : {&errors.names, &errors.values})
    for (const std::string &error : *lines)
      fuzz::requireOneLine(error);
  return 0;
}
