// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// IR that many tests begin or end with.
#ifndef WAVESAN_TEST_ENGINE_IR_TEXTS_H
#define WAVESAN_TEST_ENGINE_IR_TEXTS_H

namespace wavesan::cpu::test {

/// Data layout and triple of amdgcn modules.
inline constexpr char kModuleHeader[] =
    "target datalayout = "
    "\"e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:"
    "256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-"
    "A5-G1-ni:7:8:9\"\ntarget triple = \"amdgcn-amd-amdhsa\"\n";

inline constexpr char kHookDeclarations[] = R"(
declare void @__wavesan_kernel_begin(ptr addrspace(5), ptr addrspace(1))
declare void @__wavesan_kernel_end(ptr addrspace(5))
declare void @__wavesan_lds_access(ptr addrspace(5), i32, i32, i32, i32)
declare void @__wavesan_generic_access(ptr addrspace(5), ptr, i32, i32)
declare void @__wavesan_lds_range(ptr addrspace(5), i32, i64, i32, i32, i32)
declare void @__wavesan_generic_range(ptr addrspace(5), ptr, i64, i32, i32)
declare void @__wavesan_barrier_arrive(ptr addrspace(5), i32)
declare void @__wavesan_barrier_leave(ptr addrspace(5), i32)
declare void @__wavesan_fence(ptr addrspace(5), i32)
declare void @__wavesan_wait(ptr addrspace(5), i32)
declare void @__wavesan_global_access(ptr addrspace(5), ptr, i32, i32)
declare void @__wavesan_global_range(ptr addrspace(5), ptr, i64, i32, i32)
declare void @__wavesan_atomic_done(ptr addrspace(5), ptr, i32, i32, i1)
)";

} // namespace wavesan::cpu::test

#endif // WAVESAN_TEST_ENGINE_IR_TEXTS_H
