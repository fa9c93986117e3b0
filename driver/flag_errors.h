// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is wrong with a command line, in one line, with the flag that was probably meant.
#ifndef WAVESAN_DRIVER_FLAG_ERRORS_H
#define WAVESAN_DRIVER_FLAG_ERRORS_H

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace wavesan::driver {

/// The first of `words` in the form of a flag that `app` does not know, and the nearest one that it knows; CLI11's own
/// message otherwise.
std::string flagError(const CLI::App &app, const CLI::ParseError &error, const std::vector<std::string> &words);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_FLAG_ERRORS_H
