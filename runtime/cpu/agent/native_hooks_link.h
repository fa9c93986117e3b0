// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hook handler that all dispatches share.
#ifndef WAVESAN_CPU_AGENT_NATIVE_HOOKS_LINK_H
#define WAVESAN_CPU_AGENT_NATIVE_HOOKS_LINK_H

#include "engine.h"

namespace wavesan::agent {

/// One handler for the process, made at the first call; thread-safe. Null in builds without the hooks.
cpu::HookHandler *nativeHooks();

/// Bitcode of the device runtime, which the option hooks=device has executed instead. Empty in builds without it.
std::string_view deviceHooks();

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_NATIVE_HOOKS_LINK_H
