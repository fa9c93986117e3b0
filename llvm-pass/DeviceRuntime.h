// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device runtime's bitcode, part of the plugin.
#ifndef WAVESAN_PASS_DEVICERUNTIME_H
#define WAVESAN_PASS_DEVICERUNTIME_H

#include "llvm/ADT/StringRef.h"

namespace wavesan {

/// Bitcode of runtime/device, valid for the life of the process.
llvm::StringRef deviceRuntimeBitcode();

} // namespace wavesan

#endif // WAVESAN_PASS_DEVICERUNTIME_H
