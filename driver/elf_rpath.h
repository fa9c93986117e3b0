// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program's ELF headers say: does it carry a DT_RPATH that beats LD_LIBRARY_PATH, and is it whole?
#ifndef WAVESAN_DRIVER_ELF_RPATH_H
#define WAVESAN_DRIVER_ELF_RPATH_H

#include <filesystem>
#include <string>

namespace wavesan::driver {

/// True for a 64-bit ELF file with DT_RPATH and without DT_RUNPATH (which would come after LD_LIBRARY_PATH and switch
/// DT_RPATH off). False for anything else, unreadable and damaged files included.
bool hasForcingRpath(const std::filesystem::path &file);

/// One line if a 64-bit ELF file ends before what it would load; it would crash before it could say anything. Empty for
/// anything else.
std::string whyCutShort(const std::filesystem::path &file);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_ELF_RPATH_H
