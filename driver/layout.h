// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the parts of this installation lie, relative to the running executable. The build tree and an installed tree
// have the same shape: <prefix>/bin/wavesan and <prefix>/lib/wavesan/...
#ifndef WAVESAN_DRIVER_LAYOUT_H
#define WAVESAN_DRIVER_LAYOUT_H

#include <filesystem>
#include <string>

namespace wavesan::driver {

struct Layout {
  std::filesystem::path plugin;       ///< for -fpass-plugin=
  std::filesystem::path hsaTool;      ///< for HSA_TOOLS_LIB
  std::filesystem::path agentDir;     ///< directory of the CPU agent's libhsa-runtime64.so.1
  std::filesystem::path compatHeader; ///< for -include

  /// For LD_PRELOAD, where HIP calls are to be traced.
  std::filesystem::path hipTool() const { return hsaTool.parent_path() / "libwavesan-hip.so"; }
  std::filesystem::path waitChecker() const { return hsaTool.parent_path() / "wavesan-check"; }
  std::filesystem::path replayer() const { return hsaTool.parent_path() / "wavesan-replay"; }
  std::filesystem::path agent() const { return agentDir / "libhsa-runtime64.so.1"; }
};

/// The layout below `prefix` (the parent of the executable's bin directory). Looks at no file.
Layout layoutBelow(const std::filesystem::path &prefix);

/// The layout of the running executable. On failure (no /proc) `error` is one line and the paths are empty.
Layout layoutOfThisExecutable(std::string &error);

/// layoutOfThisExecutable with what the environment says: WAVESAN_PLUGIN names another plugin file, one that was built
/// for another compiler.
Layout layoutOfThisProcess(std::string &error);

/// Empty if `file` exists, else one line: what is missing, where it was looked for, and what to do.
std::string missingPart(const std::filesystem::path &file, const char *what);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_LAYOUT_H
