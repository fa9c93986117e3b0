// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How every subcommand takes its words: help, values, and one line for what is wrong with them, with the flag that was
// probably meant.
#ifndef WAVESAN_DRIVER_FLAG_PARSING_H
#define WAVESAN_DRIVER_FLAG_PARSING_H

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace wavesan::driver {

/// "Usage: wavesan COMMAND [OPTIONS] [--] PROGRAM ARGS...": CLI11 does not know of the program's part of the line.
class ProgramUsage : public CLI::Formatter {
public:
  explicit ProgramUsage(std::string command) : Command(std::move(command)) {}
  std::string make_usage(const CLI::App *, std::string) const override {
    return "Usage: wavesan " + Command + " [OPTIONS] [--] PROGRAM ARGS...\n";
  }

private:
  std::string Command;
};

/// Parses `words` with `app`, whose name is "wavesan COMMAND". Prints help, or an error line that begins with COMMAND.
/// Returns the exit status if that is all there is to do.
std::optional<int> parseFlags(CLI::App &app, const std::vector<std::string> &words);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_FLAG_PARSING_H
