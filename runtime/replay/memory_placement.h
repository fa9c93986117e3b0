// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory at the addresses that it had in the program that was recorded: other memory holds pointers to it.
#ifndef WAVESAN_REPLAY_MEMORY_PLACEMENT_H
#define WAVESAN_REPLAY_MEMORY_PLACEMENT_H

#include "hsa_runtime.h"

#include "wavesan/capsule/capsule.h"

namespace wavesan::replay {

/// Maps the regions that have addresses and fills them. Before the HSA runtime is loaded: what it loads could lie
/// there. Pages that no region fills are zero behind it. False: something of this process lies at one of the addresses.
bool mapRegions(const capsule::Capsule &capsule, std::string &error);

/// Makes them the GPU's, at the same addresses. Nothing to do on the CPU agent.
bool giveToGpu(const capsule::Capsule &capsule, const HsaRuntime &runtime, std::string &error);

/// Bytes of the code object's segments, from its load address on; 0: it is no such file.
uint64_t loadedBytes(const std::string &codeObject);

/// True if `capsule`'s memory or arguments hold what may be a pointer into the variables of its code object, which have
/// moved: whoever follows it would be somewhere else.
bool pointsToVariables(const capsule::Capsule &capsule);

} // namespace wavesan::replay

#endif // WAVESAN_REPLAY_MEMORY_PLACEMENT_H
