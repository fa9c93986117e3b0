; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; A function called through a pointer runs for the original and for the twin: the LDS variables that it may reach are not
; cloned, or the two halves of the twin would not see the same memory. The device library's services stay calls.
; RUN: %opt -passes=wavesan-instrument,verify -S %s | FileCheck %s
; RUN: %opt -passes=wavesan %s -o %t.bc
; RUN: llc -filetype=obj %t.bc -o %t.o
; RUN: wavesan-site-dump %t.o | FileCheck --check-prefix=SITES %s
target triple = "amdgcn-amd-amdhsa"

@both = internal addrspace(3) global i32 poison, align 4
@own = internal addrspace(3) global i32 poison, align 4
@table = internal addrspace(4) constant [1 x ptr] [ptr @callback]

; CHECK-NOT: @both.wavesan
; CHECK:     @own.wavesan = internal addrspace(3) global i32 poison
; CHECK-NOT: @both.wavesan
define internal void @callback() #0 {
  store i32 1, ptr addrspace(3) @both, align 4
  ret void
}
declare ptr @__ockl_dm_alloc(i64)

; CHECK-LABEL: define amdgpu_kernel void @k.wavesan(
; CHECK: %[[BLOCK:.*]] = call ptr @__ockl_dm_alloc(i64 8)
; CHECK: call void %f()
; SITES: kernel k twin k.wavesan granule 2 sites 2
; SITES-NOT: skip {{.*}}__ockl_dm_alloc
; SITES: skip 1: indirect call
define amdgpu_kernel void @k(i32 %i) #0 {
  %slot = getelementptr ptr, ptr addrspace(4) @table, i32 %i
  %f = load ptr, ptr addrspace(4) %slot
  %heap = call ptr @__ockl_dm_alloc(i64 8)
  call void %f()
  %a = load i32, ptr addrspace(3) @both
  store i32 %a, ptr addrspace(3) @own
  ret void
}
attributes #0 = { "target-cpu"="gfx90a" }
