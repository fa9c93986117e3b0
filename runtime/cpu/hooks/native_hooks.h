// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hooks as native wave-level operations of the CPU engine: the detector core over host memory.
//
// The shadow is private to the handler and always covers all of the program's LDS, so that a kernel whose shadow would
// fit neither into LDS nor into the slot pool is checked all the same. Results go where a GPU would put them: the
// RaceTable and the counters of the DispatchContext.
#ifndef WAVESAN_CPU_NATIVE_HOOKS_H
#define WAVESAN_CPU_NATIVE_HOOKS_H

#include "engine.h"

#include <memory>

namespace wavesan::cpu {

/// One handler serves all dispatches and threads.
std::unique_ptr<HookHandler> makeNativeHooks();

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_NATIVE_HOOKS_H
