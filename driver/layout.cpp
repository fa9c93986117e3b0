// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Locating the parts of the installation.
#include "layout.h"

#include <cstdlib>

namespace fs = std::filesystem;

namespace wavesan::driver {

Layout layoutBelow(const fs::path &prefix) {
  fs::path lib = prefix / "lib" / "wavesan";
  return {lib / "libwavesan-pass.so", lib / "libwavesan-hsa.so", lib / "cpu-agent",
          lib / "include" / "wavesan_hip_compat.h"};
}

Layout layoutOfThisExecutable(std::string &error) {
  std::error_code ec;
  fs::path self = fs::read_symlink("/proc/self/exe", ec);
  if (ec) {
    error = "cannot find my own executable: /proc/self/exe: " + ec.message();
    return {};
  }
  return layoutBelow(self.parent_path().parent_path());
}

Layout layoutOfThisProcess(std::string &error) {
  Layout layout = layoutOfThisExecutable(error);
  if (const char *plugin = std::getenv("WAVESAN_PLUGIN"); plugin && *plugin && error.empty())
    layout.plugin = fs::absolute(plugin);
  return layout;
}

std::string missingPart(const fs::path &file, const char *what) {
  std::error_code ec;
  if (fs::exists(file, ec))
    return {};
  return std::string(what) + " is missing: " + file.string() + " (build or install WaveSan completely)";
}

} // namespace wavesan::driver
