// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The GPUs that this runtime can present itself as, as plain data, and the choice among them.
#ifndef WAVESAN_CPU_AGENT_GPU_TARGET_H
#define WAVESAN_CPU_AGENT_GPU_TARGET_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wavesan::agent {

struct GpuTarget {
  const char *name;     ///< "gfx90a"
  uint32_t elfMachine;  ///< EF_AMDGPU_MACH of its code objects
  uint32_t waveSize;    ///< default wave size of HIP code on it
  const char *features; ///< target id features as AMD's runtime names them, e.g. ":sramecc+:xnack-"
  uint32_t chipId;      ///< PCI device id of one product with this ISA
};

/// Null for a name that is not in the table.
const GpuTarget *findGpuTarget(std::string_view name);
/// "gfx900, gfx906, ..."
std::string gpuTargetNames();

/// GPU code found in the program, by target name.
struct ProgramTargets {
  std::vector<std::string> withIr; ///< targets of code objects that carry WaveSan IR
  std::vector<std::string> all;
};
/// Looks through the offload bundles of the executable and the libraries it has loaded.
ProgramTargets findProgramTargets();
/// Looks through the offload bundles of one ELF file. Unreadable or malformed files have none.
void addProgramTargets(const char *path, ProgramTargets &targets);

/// The target for option gpu=auto: the only one with IR; else gfx90a if it is among them or nothing is known.
std::string chooseGpu(const ProgramTargets &targets);

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_GPU_TARGET_H
