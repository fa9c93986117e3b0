// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "native_hooks_link.h"

#ifdef WAVESAN_NATIVE_HOOKS
#include "native_hooks.h"
#endif

namespace wavesan::agent {

cpu::HookHandler *nativeHooks() {
#ifdef WAVESAN_NATIVE_HOOKS
  static cpu::HookHandler *const handler = cpu::makeNativeHooks().release(); // outlives static destructors
  return handler;
#else
  return nullptr;
#endif
}

} // namespace wavesan::agent
