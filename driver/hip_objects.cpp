// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hip_objects.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string_view>

namespace wavesan::driver {

/// The symbol stands in the string table of every object that clang made of a HIP source file, in archives too.
static bool registersGpuCode(const std::string &path) {
  static constexpr std::string_view symbol = "__hipRegisterFatBinary";
  std::ifstream file(path, std::ios::binary);
  const std::string contents((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return std::search(contents.begin(), contents.end(),
                     std::boyer_moore_horspool_searcher(symbol.begin(), symbol.end())) != contents.end();
}

/// Words that say what is linked: HIP's library by any name, or nothing but what is named.
static bool decidesItself(const std::string &word) {
  return word.find("amdhip64") != std::string::npos || word == "-r" || word == "-Wl,-r" ||
         word == "-Wl,--relocatable" || word == "-nostdlib" || word == "-nodefaultlibs" ||
         word == "--no-offload-hip-link" || word == "--no-hip-rt";
}

bool linksHipObjects(const CompileLine &line) {
  if (line.phase != CompilePhase::Link || line.hasSource() || line.hipLink ||
      std::any_of(line.args.begin(), line.args.end(), decidesItself))
    return false;
  return std::any_of(line.inputs.begin(), line.inputs.end(), [](const CompileInput &input) {
    const std::string extension = std::filesystem::path(input.path).extension().string();
    std::error_code ignored;
    return (extension == ".o" || extension == ".obj" || extension == ".a") &&
           std::filesystem::is_regular_file(input.path, ignored) && registersGpuCode(input.path);
  });
}

} // namespace wavesan::driver
