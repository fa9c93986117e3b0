// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plugin file says about itself, read without loading it (llvm-pass/PluginIdentity.cpp writes it).
#ifndef WAVESAN_DRIVER_PLUGIN_IDENTITY_H
#define WAVESAN_DRIVER_PLUGIN_IDENTITY_H

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace wavesan::driver {

struct PluginIdentity {
  std::string version; ///< of WaveSan
  int llvmMajor = 0, llvmMinor = 0;
  uint32_t abi = 0; ///< abi::kAbiVersion
};

/// Nothing where `file` cannot be read or does not say.
std::optional<PluginIdentity> readPluginIdentity(const std::filesystem::path &file);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_PLUGIN_IDENTITY_H
