// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "call_hook.h"

extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start, _end;

namespace {

__attribute__((constructor)) void loaded() { wavesan_hip_own_code(&__ehdr_start, &_end); }

} // namespace
