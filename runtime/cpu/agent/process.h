// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's life in a process: initialisation, options, the end.
//
// Nothing starts and nothing is read before the first hsa_init, so a process may fork before it. A child forked
// later has none of the threads: HSA calls there fail with NOT_INITIALIZED, as with AMD's runtime.
//
// State lives as long as the process: threads of this runtime and of the program may run beside static destructors.
// At exit, after the HIP runtime has torn itself down, the queues are brought to rest and tools are told to unload.
#ifndef WAVESAN_CPU_AGENT_PROCESS_H
#define WAVESAN_CPU_AGENT_PROCESS_H

#include "gpu_target.h"
#include "hsa_headers.h"
#include "wavesan/abi/options.h"

namespace wavesan::agent {

bool isInitialized();

/// Both valid between hsa_init and the end of the process.
const abi::Options &options();
const GpuTarget &gpuTarget();

/// Bytes of the GPU's memory pool that can be allocated at all: 16 GiB, or what the machine has.
uint64_t gpuMemoryCapacity();

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_PROCESS_H
