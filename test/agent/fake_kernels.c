// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels for the agent's tests, compiled to a real code object. What "executes" them is fake_engine.cpp, by name; the
// bodies here only give them true descriptors and argument layouts.
#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((amdgpu_kernel, visibility("protected")))

#ifdef WITH_IR
__attribute__((section(".wavesan.ir"), used, visibility("hidden"))) const char FakeIr[] = "WSFAKE";
#endif

__attribute__((visibility("protected"))) unsigned Counter = 7;
__attribute__((visibility("protected"))) unsigned *CounterPointer = &Counter; // needs a relocation

KERNEL void append(GLOBAL unsigned *log, unsigned value) { log[1 + log[0]++] = value; }
KERNEL void spin(GLOBAL unsigned *flag) {
  while (!*(volatile GLOBAL unsigned *)flag)
    ;
}
KERNEL void unsupported(GLOBAL unsigned *out) { *out = Counter; }
KERNEL void bumpCounter(GLOBAL unsigned *out) { *out = ++*CounterPointer; }
