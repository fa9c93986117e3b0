// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpu_target.h"

namespace wavesan::agent {
namespace {

constexpr GpuTarget kTargets[] = {
#define WAVESAN_AGENT_TARGET(Name, ElfMachine, WaveSize, Features, ChipId)                                             \
  {Name, ElfMachine, WaveSize, Features, ChipId},
#include "wavesan/abi/agent_targets.def"
};

} // namespace

const GpuTarget *findGpuTarget(std::string_view name) {
  for (const GpuTarget &t : kTargets)
    if (name == t.name)
      return &t;
  return nullptr;
}

} // namespace wavesan::agent
