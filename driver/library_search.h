// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where commands and shared libraries lie on a machine.
#ifndef WAVESAN_DRIVER_LIBRARY_SEARCH_H
#define WAVESAN_DRIVER_LIBRARY_SEARCH_H

#include "toolchain.h"

#include <string>

namespace wavesan::driver {

/// The file that PATH gives for `name`, without the machine's root; empty if there is none.
std::string findInPath(const Machine &machine, const std::string &name);

/// A shared library by its file name, without the machine's root; empty if it was not found. Looks in lib and lib64
/// below `prefix` first (unless that is empty), then in LD_LIBRARY_PATH, /opt/rocm and the system's directories. Not
/// the dynamic linker's whole search: run paths and ld.so.cache are not read.
std::string findLibrary(const Machine &machine, const std::string &name, const std::string &prefix);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_LIBRARY_SEARCH_H
