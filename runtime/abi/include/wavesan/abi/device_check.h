// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of the device runtime that stay out of line: hook bodies are inlined into the twins and call them.
// The runtime defines them, and the pass prepares their calls.
//
//   void __wavesan_check(i32 address, i32 offset, i32 size, i32 record, i32 operation, i32 variable)
//   void __wavesan_check_ordered(i32 address, i32 offset, i32 size, i32 record, i32 operation, i32 variable)
//   void __wavesan_lds_begin(i32 record)
//   void __wavesan_lds_done(i32 address, i32 record, i32 info, i32 wrote)
//   void __wavesan_lds_fence(i32 record, i32 info)
//   void __wavesan_barrier_met(i32 record, i32 site, i32 waves, i32 lanes)
//   void __wavesan_global_check(i64 address, i32 offset, i32 size, i32 record, i32 operation)
//   void __wavesan_global_fence(i32 record, i32 info)
//   void __wavesan_global_release(i64 address, i32 record, i32 info, i32 step)
//   void __wavesan_global_acquire(i64 address, i32 record, i32 info, i32 wrote)
//   void __wavesan_global_grid(i32 record, i32 leave)
//   void __wavesan_global_end(i32 record, i32 waves)
//
// Each is a leaf without memory of its own (no calls, no stack). So neither it nor the kernel that calls it needs
// scratch memory: nothing is saved, and the code generator sees which registers it really changes. `address`, `size`,
// `wrote` and `step` may differ between lanes; the rest is the same in all active lanes of a call, and the function
// says so itself (readfirstlane). Scalar parameters ("inreg") would save these instructions, but LLVM 22 places them
// differently in caller and callee on targets whose scratch memory needs a buffer descriptor (gfx90a, gfx1030).
#ifndef WAVESAN_ABI_DEVICE_CHECK_H
#define WAVESAN_ABI_DEVICE_CHECK_H

namespace wavesan::abi {

inline constexpr char kCheckSymbol[] = "__wavesan_check";
inline constexpr char kBarrierSymbol[] = "__wavesan_barrier_met";
/// In place of kCheckSymbol where a hook's question kOrdersLdsSymbol, i1(i32 record), is answered yes. The pass answers
/// it for each kernel (kKernelOrdersThroughLds), and one of the two branches goes.
inline constexpr char kOrderedCheckSymbol[] = "__wavesan_check_ordered", kOrdersLdsSymbol[] = "__wavesan_orders_lds";
inline constexpr char kGlobalCheckSymbol[] = "__wavesan_global_check";

inline constexpr const char *kOutOfLineSymbols[] = {
    kCheckSymbol,
    kBarrierSymbol,
    kGlobalCheckSymbol,
    "__wavesan_global_fence",
    "__wavesan_global_release",
    "__wavesan_global_acquire",
    "__wavesan_global_grid",
    "__wavesan_global_end",
    kOrderedCheckSymbol,
    "__wavesan_lds_begin",
    "__wavesan_lds_done",
    "__wavesan_lds_fence",
};

/// Parameters of both checks: the access begins at address + offset (signed). The hooks pass 0 as offset; the pass moves constants into it.
inline constexpr unsigned kCheckAddress = 0, kCheckOffset = 1;

} // namespace wavesan::abi

#endif // WAVESAN_ABI_DEVICE_CHECK_H
