// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The GPUs that this runtime can present itself as, as plain data.
#ifndef WAVESAN_CPU_AGENT_GPU_TARGET_H
#define WAVESAN_CPU_AGENT_GPU_TARGET_H

#include <cstdint>
#include <string_view>

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

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_GPU_TARGET_H
