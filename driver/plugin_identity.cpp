// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading a plugin's identity.
#include "plugin_identity.h"

#include "file_contents.h"

#include <cstdio>

namespace wavesan::driver {

std::optional<PluginIdentity> readPluginIdentity(const std::filesystem::path &file) {
  const std::string bytes = contentsOf(file);
  constexpr std::string_view mark = "\nwavesan-plugin version=";
  const size_t at = bytes.find(mark);
  if (at == std::string::npos)
    return std::nullopt;
  const size_t end = bytes.find('\n', at + 1);
  if (end == std::string::npos || end - at > 200)
    return std::nullopt;
  char version[64];
  PluginIdentity identity;
  // The line is bounded above, the version by its width.
  if (std::sscanf(bytes.substr(at + 1, end - at - 1).c_str(), "wavesan-plugin version=%63s llvm=%d.%d abi=%u", version,
                  &identity.llvmMajor, &identity.llvmMinor, &identity.abi) != 4)
    return std::nullopt;
  identity.version = version;
  return identity;
}

} // namespace wavesan::driver
