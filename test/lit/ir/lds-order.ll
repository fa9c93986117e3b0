; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Kernels whose waves atomics on LDS may order have the check that follows them. Others, histograms and counters between
; barriers above all, call nothing of it.
; RUN: %opt -passes=wavesan,verify -S %s | FileCheck %s
target triple = "amdgcn-amd-amdhsa"

@flag = internal addrspace(3) global i32 poison, align 4
@data = internal addrspace(3) global i32 poison, align 4

; CHECK-LABEL: define amdgpu_kernel void @spin_flag.wavesan(
; CHECK-NOT:   @__wavesan_check(
; CHECK:       call void @__wavesan_check_ordered(
; CHECK:       call void @__wavesan_lds_begin(
; CHECK-NEXT:  store atomic i32 1, ptr addrspace(3) @flag.wavesan syncscope("workgroup") release
; CHECK:       call void @__wavesan_lds_done(
; CHECK:       call void @__wavesan_lds_begin(
; CHECK-NEXT:  load atomic i32, ptr addrspace(3) @flag.wavesan syncscope("workgroup") acquire
; CHECK:       call void @__wavesan_lds_done(
; CHECK-NOT:   @__wavesan_check(
; CHECK:       ret void
define amdgpu_kernel void @spin_flag(ptr addrspace(1) %out) #0 {
  store i32 1, ptr addrspace(3) @data, align 4
  store atomic i32 1, ptr addrspace(3) @flag syncscope("workgroup") release, align 4
  %v = load atomic i32, ptr addrspace(3) @flag syncscope("workgroup") acquire, align 4
  store i32 %v, ptr addrspace(1) %out, align 4
  ret void
}

; Relaxed, with fences of their own.
; CHECK-LABEL: define amdgpu_kernel void @fences.wavesan(
; CHECK:       call void @__wavesan_lds_fence(
; CHECK:       call void @__wavesan_lds_done(
; CHECK:       call void @__wavesan_check_ordered(
; CHECK:       ret void
define amdgpu_kernel void @fences(ptr addrspace(1) %out) #0 {
  fence syncscope("workgroup") acq_rel
  %v = atomicrmw add ptr addrspace(3) @flag, i32 1 syncscope("workgroup") monotonic, align 4
  store i32 %v, ptr addrspace(3) @data, align 4
  ret void
}

; Through a pointer that may be one to LDS.
; CHECK-LABEL: define amdgpu_kernel void @generic.wavesan(
; CHECK:       call void @__wavesan_lds_done(
; CHECK:       ret void
define amdgpu_kernel void @generic(ptr %other, i1 %lds) #0 {
  %where = select i1 %lds, ptr addrspacecast (ptr addrspace(3) @flag to ptr), ptr %other
  %v = atomicrmw add ptr %where, i32 1 syncscope("workgroup") acq_rel, align 4
  ret void
}

; What the fences of a barrier make known, the barrier does.
; CHECK-LABEL: define amdgpu_kernel void @histogram.wavesan(
; CHECK-NOT:   __wavesan_lds
; CHECK-NOT:   __wavesan_check_ordered
; CHECK:       call void @__wavesan_check(
; CHECK-NOT:   __wavesan_lds
; CHECK:       ret void
define amdgpu_kernel void @histogram(ptr addrspace(1) %out) #0 {
  store i32 0, ptr addrspace(3) @data, align 4
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %v = atomicrmw add ptr addrspace(3) @data, i32 1 syncscope("agent") monotonic, align 4
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %r = load i32, ptr addrspace(3) @data, align 4
  store i32 %r, ptr addrspace(1) %out, align 4
  ret void
}

; Nobody releases; the scope is one wave's; the flag is no LDS.
; CHECK-LABEL: define amdgpu_kernel void @others.wavesan(
; CHECK-NOT:   __wavesan_lds
; CHECK-NOT:   __wavesan_check_ordered
; CHECK:       ret void
define amdgpu_kernel void @others(ptr addrspace(1) %out) #0 {
  %a = load atomic i32, ptr addrspace(3) @flag syncscope("workgroup") acquire, align 4
  %b = atomicrmw add ptr addrspace(3) @flag, i32 %a syncscope("wavefront") acq_rel, align 4
  %c = atomicrmw add ptr addrspace(1) %out, i32 %b syncscope("agent") acq_rel, align 4
  ret void
}

attributes #0 = { "target-cpu"="gfx90a" }
