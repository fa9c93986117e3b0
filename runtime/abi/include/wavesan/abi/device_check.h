// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of the device runtime that stay out of line: hook bodies are inlined into the twins and call them.
// The runtime defines them, and the pass prepares their calls.
//
//   void __wavesan_check(i32 address, i32 offset, i32 size, i32 record, i32 operation, i32 variable)
//   void __wavesan_barrier_met(i32 record, i32 site, i32 waves, i32 lanes)
//
// Each is a leaf without memory of its own (no calls, no stack). So neither it nor the kernel that calls it needs scratch
// memory: nothing is saved, and the code generator sees which registers it really changes. `address` and `size` may
// differ between lanes; the rest is the same in all active lanes of a call, and the function says so itself
// (readfirstlane). Scalar parameters ("inreg") would save these instructions, but LLVM 22 places them differently in
// caller and callee on targets whose scratch memory needs a buffer descriptor (gfx90a, gfx1030).
#ifndef WAVESAN_ABI_DEVICE_CHECK_H
#define WAVESAN_ABI_DEVICE_CHECK_H

namespace wavesan::abi {

inline constexpr char kCheckSymbol[] = "__wavesan_check";
inline constexpr char kBarrierSymbol[] = "__wavesan_barrier_met";

/// Parameters: the access begins at address + offset. The hooks pass 0 as offset; the pass moves constants into it.
inline constexpr unsigned kCheckAddress = 0, kCheckOffset = 1;

} // namespace wavesan::abi

#endif // WAVESAN_ABI_DEVICE_CHECK_H
