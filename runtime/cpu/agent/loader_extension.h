// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HSA_EXTENSION_AMD_LOADER 1.00 to 1.03: how tools see loaded code objects.
#ifndef WAVESAN_CPU_AGENT_LOADER_EXTENSION_H
#define WAVESAN_CPU_AGENT_LOADER_EXTENSION_H

#include <cstddef>
#include <cstdint>

namespace wavesan::agent {

inline constexpr uint16_t kLoaderMinorVersion = 3;

/// Bytes of the function table of version 1.`minor`.
size_t loaderTableSize(uint16_t minor);
/// Copies the first `size` bytes of the newest table; what lies beyond it is zeroed.
void copyLoaderTable(void *table, size_t size);

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_LOADER_EXTENSION_H
