// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "native_hooks_link.h"

#ifdef WAVESAN_NATIVE_HOOKS
#include "native_hooks.h"
#endif

#ifdef WAVESAN_DEVICE_BITCODE
asm(R"(
  .section .rodata.wavesan_device_bitcode,"a"
  .balign 16
wavesan_device_bitcode_begin:
  .incbin ")" WAVESAN_DEVICE_BITCODE R"("
wavesan_device_bitcode_end:
  .byte 0
  .previous
)");
extern "C" __attribute__((visibility("hidden"))) const char wavesan_device_bitcode_begin[], wavesan_device_bitcode_end[];
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

std::string_view deviceHooks() {
#ifdef WAVESAN_DEVICE_BITCODE
  return {wavesan_device_bitcode_begin, size_t(wavesan_device_bitcode_end - wavesan_device_bitcode_begin)};
#else
  return {};
#endif
}

} // namespace wavesan::agent
