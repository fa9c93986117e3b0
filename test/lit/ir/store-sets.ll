; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; What a kernel may write outside of its workgroups, for kernel replay.
; RUN: %opt -passes=wavesan,verify %s -o %t.bc
; RUN: llc -filetype=obj %t.bc -o %t.o
; RUN: wavesan-site-dump --stores %t.o | FileCheck %s
target triple = "amdgcn-amd-amdhsa"

@tile = internal addrspace(3) global [64 x i32] poison, align 16
@counter = addrspace(1) externally_initialized global i32 0, align 4
@lookup = internal addrspace(4) constant [4 x i32] [i32 1, i32 2, i32 3, i32 4], align 16

; CHECK-LABEL: kernel through_arguments
; CHECK-NEXT:  stores through argument 1 + 0
; CHECK-NEXT:  stores through argument 3 + 0
; CHECK-NOT:   stores
define amdgpu_kernel void @through_arguments(ptr addrspace(1) %in, ptr addrspace(1) %out, i1 %which, ptr addrspace(1) %other) #0 {
  %v = load i32, ptr addrspace(1) %in, align 4
  %to = select i1 %which, ptr addrspace(1) %out, ptr addrspace(1) %other
  %at = getelementptr i32, ptr addrspace(1) %to, i32 %v
  %flat = addrspacecast ptr addrspace(1) %at to ptr
  store i32 %v, ptr %flat, align 4
  %old = load atomic i32, ptr addrspace(1) %in acquire, align 4
  ret void
}

; CHECK-LABEL: kernel through_members
; CHECK-NEXT:  stores through argument 1 + 16
; CHECK-NOT:   stores
define amdgpu_kernel void @through_members(i32 %n, ptr addrspace(4) byref({ ptr, i32, ptr }) align 8 %view) #0 {
  %from = load ptr, ptr addrspace(4) %view, align 8
  %place = getelementptr i8, ptr addrspace(4) %view, i64 16
  %to = load ptr, ptr addrspace(4) %place, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %to, ptr align 4 %from, i64 64, i1 false)
  ret void
}

; CHECK-LABEL: kernel in_a_loop
; CHECK-NEXT:  stores through argument 0 + 0
; CHECK-NOT:   stores
define amdgpu_kernel void @in_a_loop(ptr addrspace(1) %out, i32 %n) #0 {
entry:
  br label %next
next:
  %p = phi ptr addrspace(1) [ %out, %entry ], [ %q, %next ]
  %i = phi i32 [ 0, %entry ], [ %j, %next ]
  store i32 %i, ptr addrspace(1) %p, align 4
  %q = getelementptr i8, ptr addrspace(1) %p, i64 28
  %j = add i32 %i, 1
  %more = icmp ult i32 %j, %n
  br i1 %more, label %next, label %done
done:
  ret void
}

; LDS and private memory are of the workgroup; barriers, waits and cache control write nothing.
; CHECK-LABEL: kernel variables
; CHECK-NEXT:  stores to variable counter
; CHECK-NOT:   stores
define amdgpu_kernel void @variables(i32 %i) #0 {
  %own = alloca [4 x i32], align 4, addrspace(5)
  %mine = getelementptr i32, ptr addrspace(5) %own, i32 %i
  store volatile i32 %i, ptr addrspace(5) %mine, align 4
  store i32 %i, ptr addrspace(3) @tile, align 4
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  call void @llvm.amdgcn.s.sleep(i32 1)
  %old = atomicrmw add ptr addrspace(1) @counter, i32 %i syncscope("agent") monotonic, align 4
  ret void
}

; CHECK-LABEL: kernel nothing
; CHECK-NOT:   stores
; CHECK:       kernel loaded_pointer
; CHECK-NEXT:  stores anywhere
define amdgpu_kernel void @nothing(ptr addrspace(1) %in) #0 {
  %v = load volatile i32, ptr addrspace(1) %in, align 4
  ret void
}
define amdgpu_kernel void @loaded_pointer(ptr addrspace(1) %in) #0 {
  %to = load ptr, ptr addrspace(1) %in, align 8
  store i32 1, ptr %to, align 4
  ret void
}

; A number says nothing about the memory, and one known store does not make up for an unknown one.
; CHECK-LABEL: kernel number
; CHECK-NEXT:  stores anywhere
; CHECK-NOT:   stores
define amdgpu_kernel void @number(i64 %address, ptr addrspace(1) %out) #0 {
  %to = inttoptr i64 %address to ptr addrspace(1)
  store i32 1, ptr addrspace(1) %out, align 4
  store i32 1, ptr addrspace(1) %to, align 4
  ret void
}

; CHECK-LABEL: kernel assembly
; CHECK-NEXT:  stores anywhere
define amdgpu_kernel void @assembly(ptr addrspace(1) %out) #0 {
  call void asm sideeffect "global_store_dword $0, $1, off", "v,v,~{memory}"(ptr addrspace(1) %out, i32 1)
  ret void
}

; The index of a member that is chosen at run time.
; CHECK-LABEL: kernel some_member
; CHECK-NEXT:  stores anywhere
define amdgpu_kernel void @some_member(ptr addrspace(4) byref([4 x ptr]) align 8 %views, i64 %n) #0 {
  %place = getelementptr ptr, ptr addrspace(4) %views, i64 %n
  %to = load ptr, ptr addrspace(4) %place, align 8
  store i32 1, ptr %to, align 4
  ret void
}

; CHECK-LABEL: kernel recursive
; CHECK-NEXT:  stores anywhere
define internal void @again(ptr %to, i32 %n) #0 {
  store i32 %n, ptr %to, align 4
  %m = sub i32 %n, 1
  %more = icmp ne i32 %m, 0
  br i1 %more, label %more.block, label %done
more.block:
  call void @again(ptr %to, i32 %m)
  br label %done
done:
  ret void
}
define amdgpu_kernel void @recursive(ptr %out, i32 %n) #0 {
  call void @again(ptr %out, i32 %n)
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.amdgcn.s.sleep(i32)
attributes #0 = { "target-cpu"="gfx90a" }
