// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows the program's allocations, so that reports can name memory (memory_map.h).
#ifndef WAVESAN_HSA_MEMORY_INTERCEPTOR_H
#define WAVESAN_HSA_MEMORY_INTERCEPTOR_H

#include "api.h"

namespace wavesan::hsa {

/// Replaces memory functions in the tables. The replacements use Tool::current().
void installMemoryInterceptors(CoreApiTable &core, AmdExtTable &amd);
/// Puts `original`'s functions back where the tables still hold the replacements.
void removeMemoryInterceptors(CoreApiTable &core, AmdExtTable &amd, const Api &original);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_MEMORY_INTERCEPTOR_H
