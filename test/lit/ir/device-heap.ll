; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Device malloc and free: the release of a block comes before the allocation that returns the same memory. Other services of the device
; library stay what they are: not checked, and counted.
; RUN: %opt -passes=wavesan-instrument,verify -S %s | FileCheck %s
; RUN: %opt -passes=wavesan %s -o %t.bc
; RUN: llc -filetype=obj %t.bc -o %t.o
; RUN: wavesan-site-dump %t.o | FileCheck --check-prefix=SITES %s
target triple = "amdgcn-amd-amdhsa"

declare ptr addrspace(1) @__ockl_dm_alloc(i64)
declare void @__ockl_dm_dealloc(i64)
declare i64 @__ockl_dm_nna(i64)

; Atomic, read; 1 byte; agent; acquire; no instruction of its own.
; CHECK-LABEL: define amdgpu_kernel void @k.wavesan(
; CHECK:      %p = call ptr addrspace(1) @__ockl_dm_alloc(i64 8)
; CHECK-NEXT: %[[FLAT:.*]] = addrspacecast ptr addrspace(1) %p to ptr
; CHECK-NEXT: call void @__wavesan_atomic_done(ptr addrspace(5) %{{.*}}, ptr %[[FLAT]], i32 -1946156795, i32 {{[0-9]+}}, i1 false)
; CHECK-NEXT: call void @__wavesan_fence(
; CHECK:      call void @__wavesan_global_access(
; CHECK-NEXT: store i32 7, ptr addrspace(1) %p
; Atomic, write; release.
; CHECK:      call void @__wavesan_fence(
; CHECK-NEXT: %[[BLOCK:.*]] = inttoptr i64 %i to ptr
; CHECK-NEXT: call void @__wavesan_atomic_done(ptr addrspace(5) %{{.*}}, ptr %[[BLOCK]], i32 -1811939066, i32 {{[0-9]+}}, i1 true)
; CHECK-NEXT: call void @__ockl_dm_dealloc(i64 %i)
; SITES-NOT: skip {{.*}}__ockl_dm_{{(de)?}}alloc
; SITES: skip 1: call of the device library (__ockl_dm_nna)
; SITES-NOT: skip {{.*}}__ockl_dm_{{(de)?}}alloc
define amdgpu_kernel void @k() #0 {
  %p = call ptr addrspace(1) @__ockl_dm_alloc(i64 8)
  store i32 7, ptr addrspace(1) %p
  %i = ptrtoint ptr addrspace(1) %p to i64
  call void @__ockl_dm_dealloc(i64 %i)
  %n = call i64 @__ockl_dm_nna(i64 0)
  ret void
}
attributes #0 = { "target-cpu"="gfx90a" }
