// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies and fills of the program keep out of the windows of kernel replay.
#ifndef WAVESAN_HSA_COPY_INTERCEPTOR_H
#define WAVESAN_HSA_COPY_INTERCEPTOR_H

#include "api.h"

namespace wavesan::hsa {

/// Functions that the runtime lacks stay missing.
void installCopyInterceptors(CoreApiTable &core, AmdExtTable &amd);
void removeCopyInterceptors(CoreApiTable &core, AmdExtTable &amd, const Api &original);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_COPY_INTERCEPTOR_H
