// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two agents (the host CPU and the one GPU), the GPU's ISA, and the limits they report.
#ifndef WAVESAN_CPU_AGENT_AGENTS_H
#define WAVESAN_CPU_AGENT_AGENTS_H

#include "hsa_headers.h"

#include <cstdint>
#include <string>

namespace wavesan::agent {

// Handles are opaque constants: there is nothing behind them to allocate.
inline constexpr hsa_agent_t kCpuAgent{0x1000};
inline constexpr hsa_agent_t kGpuAgent{0x2000};
inline constexpr hsa_isa_t kGpuIsa{0x3000};
inline constexpr hsa_wavefront_t kGpuWavefront{0x4000};

inline bool isGpu(hsa_agent_t a) { return a.handle == kGpuAgent.handle; }
inline bool isAgent(hsa_agent_t a) { return isGpu(a) || a.handle == kCpuAgent.handle; }

inline constexpr uint32_t kMaxQueuePackets = 131072;
inline constexpr uint32_t kMinQueuePackets = 64;
inline constexpr uint32_t kMaxWorkgroupSize = 1024;
inline constexpr uint32_t kComputeUnits = 4;
inline constexpr uint32_t kGroupSegmentBytes = 65536;

/// "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
std::string gpuIsaName();

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_AGENTS_H
