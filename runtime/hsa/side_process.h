// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program of WaveSan's that this library executes: what needs LLVM does not belong into the user's process.
#ifndef WAVESAN_HSA_SIDE_PROCESS_H
#define WAVESAN_HSA_SIDE_PROCESS_H

#include <string>
#include <string_view>
#include <vector>

namespace wavesan::hsa {

/// The file of that name in the directory of this library; empty if that is not known.
std::string besideThisLibrary(const char *name);

struct SideProcess {
  std::string output;
  std::string problem; ///< one line when it could not be executed or did not end well
};

/// Executes a program with `input` at its standard input, and waits for its end. Neither this tool nor the agent is
/// loaded there.
SideProcess runBeside(std::vector<std::string> words, std::string_view input);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_SIDE_PROCESS_H
