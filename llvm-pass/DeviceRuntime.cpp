// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device runtime's bitcode as data inside the plugin: one flag is all a user needs.
#include "DeviceRuntime.h"

asm(R"(
  .section .rodata.wavesan_device_bitcode,"a"
  .balign 16
  .globl wavesan_device_bitcode_begin
  .hidden wavesan_device_bitcode_begin
wavesan_device_bitcode_begin:
  .incbin ")" WAVESAN_DEVICE_BITCODE R"("
  .globl wavesan_device_bitcode_end
  .hidden wavesan_device_bitcode_end
wavesan_device_bitcode_end:
  .byte 0
  .previous
)");

extern "C" const char wavesan_device_bitcode_begin[];
extern "C" const char wavesan_device_bitcode_end[];

llvm::StringRef wavesan::deviceRuntimeBitcode() {
  return {wavesan_device_bitcode_begin, size_t(wavesan_device_bitcode_end - wavesan_device_bitcode_begin)};
}
