// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows code objects from their reader to the frozen executable, and so learns every kernel's handle and twin.
#ifndef WAVESAN_HSA_LOADER_INTERCEPTOR_H
#define WAVESAN_HSA_LOADER_INTERCEPTOR_H

#include "api.h"

namespace wavesan::hsa {

/// Replaces the loader functions in `core`. The replacements use Tool::current().
void installLoaderInterceptors(CoreApiTable &core);
/// Puts `original`'s functions back where `core` still holds the replacements.
void removeLoaderInterceptors(CoreApiTable &core, const CoreApiTable &original);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_LOADER_INTERCEPTOR_H
