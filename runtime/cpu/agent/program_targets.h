// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The GPU code that a program carries: for which targets, whether it is whole, and which GPU to present to it.
#ifndef WAVESAN_CPU_AGENT_PROGRAM_TARGETS_H
#define WAVESAN_CPU_AGENT_PROGRAM_TARGETS_H

#include <string>
#include <string_view>
#include <vector>

namespace wavesan::agent {

/// GPU code found in the program, by target name.
struct ProgramTargets {
  std::vector<std::string> withIr; ///< targets of code objects that carry WaveSan IR
  std::vector<std::string> all;
  std::vector<std::vector<std::string>> bundles{}; ///< of each bundle; HIP wants the GPU's among them
  std::vector<std::string> damage{};               ///< what is wrong with a bundle, one line each
};
/// Looks through the offload bundles of the executable and the libraries it has loaded.
ProgramTargets findProgramTargets();
/// Reads the contents of a .hip_fatbin section, which may be anything.
void addBundles(std::string_view bytes, ProgramTargets &targets);
/// Looks through the offload bundles of one ELF file. Unreadable or malformed files have none.
void addProgramTargets(const char *path, ProgramTargets &targets);

/// One line if a bundle holds no code for `gpu`; else empty.
std::string missingTarget(const ProgramTargets &targets, std::string_view gpu);

/// The target for option gpu=auto: the only one with IR; else gfx90a if it is among them or nothing is known.
std::string chooseGpu(const ProgramTargets &targets);

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_PROGRAM_TARGETS_H
