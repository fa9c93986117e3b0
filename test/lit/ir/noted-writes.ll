; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Kernels of which hooks hear of every write outside of the workgroup: a replay of any other restores everything.
; RUN: %opt -passes=wavesan,verify %s -o %t.bc
; RUN: llc -filetype=obj %t.bc -o %t.o
; RUN: wavesan-site-dump --notes %t.o | FileCheck %s
target triple = "amdgcn-amd-amdhsa"

@tile = internal addrspace(3) global [64 x i32] poison, align 16
@counter = addrspace(1) externally_initialized global i32 0, align 4

; CHECK-LABEL: kernel plain
; CHECK:       notes its writes
define amdgpu_kernel void @plain(ptr addrspace(1) %out, i32 %v) #0 {
  store i32 %v, ptr addrspace(1) %out, align 1
  %own = alloca i32, align 4, addrspace(5)
  store volatile i32 %v, ptr addrspace(5) %own, align 4
  store i32 %v, ptr addrspace(3) @tile, align 4
  %old = atomicrmw add ptr addrspace(1) @counter, i32 %v syncscope("agent") monotonic, align 4
  %pair = cmpxchg ptr addrspace(1) %out, i32 1, i32 2 syncscope("agent") monotonic monotonic, align 4
  %ordered = load atomic i32, ptr addrspace(1) %out acquire, align 4
  fence syncscope("agent") release
  call void @llvm.amdgcn.s.barrier()
  call void @llvm.amdgcn.s.sleep(i32 1)
  ret void
}

; CHECK-LABEL: kernel generic
; CHECK:       notes its writes
define amdgpu_kernel void @generic(ptr addrspace(1) %place, i64 %n, i1 %which) #0 {
  %own = alloca i32, align 4, addrspace(5)
  %private = addrspacecast ptr addrspace(5) %own to ptr
  %flat = load ptr, ptr addrspace(1) %place, align 8
  %to = select i1 %which, ptr %private, ptr %flat
  store i32 1, ptr %to, align 4
  store i32 1, ptr %private, align 4
  call void @llvm.memset.p0.i64(ptr %flat, i8 1, i64 %n, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %flat, ptr %to, i64 64, i1 false)
  call void @llvm.memmove.p1.p1.i64(ptr addrspace(1) %place, ptr addrspace(1) %place, i64 %n, i1 false)
  ret void
}

; CHECK-LABEL: kernel masked
; CHECK:       notes its writes
define amdgpu_kernel void @masked(ptr addrspace(1) %out, <4 x i1> %mask, <4 x i32> %v) #0 {
  call void @llvm.masked.store.v4i32.p1(<4 x i32> %v, ptr addrspace(1) %out, i32 4, <4 x i1> %mask)
  ret void
}

; CHECK-LABEL: kernel known_asm
; CHECK:       notes its writes
define amdgpu_kernel void @known_asm(ptr addrspace(1) %out, i32 %v) #0 {
  call void asm sideeffect "global_store_dword $0, $1, off", "v,v"(ptr addrspace(1) %out, i32 %v)
  call void asm sideeffect "s_waitcnt vmcnt(0)", ""()
  ret void
}

; CHECK-LABEL: kernel unknown_asm
; CHECK:       does not note all writes
; CHECK-LABEL: kernel quiet_asm
; CHECK:       does not note all writes
; CHECK-LABEL: kernel buffer
; CHECK:       does not note all writes
; CHECK-LABEL: kernel fat
; CHECK:       does not note all writes
; CHECK-LABEL: kernel indirect
; CHECK:       does not note all writes
; CHECK-LABEL: kernel heap
; CHECK:       does not note all writes
; CHECK-LABEL: kernel recursive
; CHECK:       notes its writes
; CHECK-LABEL: kernel bad_recursive
; CHECK:       does not note all writes
; CHECK-LABEL: kernel calls_it
; CHECK:       notes its writes
define amdgpu_kernel void @unknown_asm(ptr addrspace(1) %out, i32 %v) #0 {
  call void asm sideeffect "v_mov_b32 v0, $0\0A\09global_store_dword v[2:3], v0, off", "v,~{v0}"(i32 %v)
  ret void
}
; No sideeffect, and no memory: it writes all the same.
define amdgpu_kernel void @quiet_asm(ptr addrspace(1) %out) #0 {
  %v = call i32 asm "global_store_dword v[2:3], v4, off\0A\09v_mov_b32 $0, 1", "=v"()
  store i32 %v, ptr addrspace(1) %out, align 4
  ret void
}
define amdgpu_kernel void @buffer(ptr addrspace(8) inreg %rsrc, i32 %v) #0 {
  call void @llvm.amdgcn.raw.ptr.buffer.store.i32(i32 %v, ptr addrspace(8) %rsrc, i32 0, i32 0, i32 0)
  ret void
}
define amdgpu_kernel void @fat(ptr addrspace(8) inreg %rsrc, i32 %v) #0 {
  %p = addrspacecast ptr addrspace(8) %rsrc to ptr addrspace(7)
  store i32 %v, ptr addrspace(7) %p, align 4
  ret void
}
define amdgpu_kernel void @indirect(ptr addrspace(1) %out) #0 {
  %f = load ptr, ptr addrspace(1) %out, align 8
  call void %f()
  ret void
}
declare ptr @__ockl_dm_alloc(i64)
define amdgpu_kernel void @heap(ptr addrspace(1) %out) #0 {
  %p = call ptr @__ockl_dm_alloc(i64 16)
  store ptr %p, ptr addrspace(1) %out, align 8
  ret void
}
define amdgpu_kernel void @recursive(ptr addrspace(1) %out) #0 {
  call void @again(ptr addrspace(1) %out, i32 3)
  ret void
}
define amdgpu_kernel void @bad_recursive(ptr addrspace(1) %out) #0 {
  call void @bad_again(ptr addrspace(1) %out, i32 3)
  ret void
}
define amdgpu_kernel void @calls_it(ptr addrspace(1) %out) #0 {
  call void @stores(ptr addrspace(1) %out)
  ret void
}
define internal void @again(ptr addrspace(1) %out, i32 %n) #0 {
  store i32 %n, ptr addrspace(1) %out, align 4
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %more
more:
  %less = sub i32 %n, 1
  call void @again(ptr addrspace(1) %out, i32 %less)
  br label %end
end:
  ret void
}
define internal void @bad_again(ptr addrspace(1) %out, i32 %n) #0 {
  call void asm sideeffect "v_mov_b32 v0, $0\0A\09global_store_dword v[2:3], v0, off", "v,~{v0}"(i32 %n)
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %more
more:
  %less = sub i32 %n, 1
  call void @bad_again(ptr addrspace(1) %out, i32 %less)
  br label %end
end:
  ret void
}
define internal void @stores(ptr addrspace(1) %out) #0 {
  store i32 1, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { "target-cpu"="gfx90a" }
