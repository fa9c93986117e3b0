; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; A plain read whose bytes the same lane has just accessed, with nothing in between that orders it, has no hook of its
; own and is counted. Everything else keeps its hook.
; RUN: %opt -passes=wavesan-instrument,verify -S %s | FileCheck --implicit-check-not='call void @__wavesan_{{lds|global}}' %s
; RUN: %opt -passes=wavesan-instrument,verify -wavesan-keep-covered -S %s | FileCheck --check-prefix=KEPT %s
; RUN: %opt -passes=wavesan %s -o %t.bc
; RUN: llc -filetype=obj %t.bc -o %t.o
; RUN: wavesan-site-dump %t.o | FileCheck --check-prefix=SITES %s
target triple = "amdgcn-amd-amdhsa"

@tile = internal addrspace(3) global [64 x i32] poison, align 16
@sink = addrspace(1) global i32 0, align 4

; Own write, wider access, constant distance, another store in between that may alias.
; CHECK-LABEL: define amdgpu_kernel void @covered.wavesan(
; CHECK:      call void @__wavesan_lds_access({{.*}}, i32 1026, i32 0,
; CHECK-NEXT: store i32 1
; CHECK-NEXT: load i32
; CHECK-NEXT: load i8
; CHECK:      call void @__wavesan_global_access({{.*}}, i32 4097, i32 1)
; CHECK-NEXT: load <4 x i32>
; CHECK:      call void @__wavesan_global_access({{.*}}, i32 1026, i32 2)
; CHECK-NEXT: store i32 2
; CHECK-NEXT: getelementptr
; CHECK-NEXT: load i64
; CHECK-NEXT: load i32
; CHECK: ret void
; KEPT-LABEL: define amdgpu_kernel void @covered.wavesan(
; KEPT-COUNT-7: call void @__wavesan_{{lds|global}}_access
; KEPT: ret void
; SITES: kernel covered twin covered.wavesan granule 2 sites 3
; SITES-NEXT: skip 4: covered by an earlier check
define amdgpu_kernel void @covered(i32 %i, ptr addrspace(1) noalias %g, ptr addrspace(1) %h) #0 {
  %p = getelementptr [64 x i32], ptr addrspace(3) @tile, i32 0, i32 %i
  store i32 1, ptr addrspace(3) %p, align 4
  %a = load i32, ptr addrspace(3) %p, align 4
  %b = load i8, ptr addrspace(3) %p, align 1
  %v = load <4 x i32>, ptr addrspace(1) %g, align 16
  store i32 2, ptr addrspace(1) %h, align 4
  %g8 = getelementptr i8, ptr addrspace(1) %g, i64 8
  %c = load i64, ptr addrspace(1) %g8, align 8
  %d = load i32, ptr addrspace(1) %h, align 4
  ret void
}

; One byte beyond, another index, a write, a volatile read, another block.
; CHECK-LABEL: define amdgpu_kernel void @others.wavesan(
; CHECK: call void @__wavesan_lds_access({{.*}}, i32 1026, i32 3,
; CHECK: call void @__wavesan_lds_access({{.*}}, i32 1025, i32 4,
; CHECK-NEXT: load i32, ptr addrspace(3) %beyond
; CHECK: call void @__wavesan_lds_access({{.*}}, i32 1025, i32 5,
; CHECK-NEXT: load i32, ptr addrspace(3) %q
; CHECK: call void @__wavesan_lds_access({{.*}}, i32 1026, i32 6,
; CHECK-NEXT: store i32 2
; CHECK: call void @__wavesan_lds_access({{.*}}, i32 1025, i32 7,
; CHECK-NEXT: load volatile
; CHECK: next:
; CHECK: call void @__wavesan_lds_access({{.*}}, i32 1025, i32 8,
; CHECK-NEXT: load i32
; CHECK: ret void
; SITES: kernel others twin others.wavesan granule 0 sites 6
; SITES-NOT: skip
define amdgpu_kernel void @others(i32 %i, i32 %j) #0 {
  %p = getelementptr [64 x i32], ptr addrspace(3) @tile, i32 0, i32 %i
  %q = getelementptr [64 x i32], ptr addrspace(3) @tile, i32 0, i32 %j
  store i32 1, ptr addrspace(3) %p, align 4
  %beyond = getelementptr i8, ptr addrspace(3) %p, i32 1
  %a = load i32, ptr addrspace(3) %beyond, align 1
  %b = load i32, ptr addrspace(3) %q, align 4
  store i32 2, ptr addrspace(3) %p, align 4
  %c = load volatile i32, ptr addrspace(3) %p, align 4
  br label %next
next:
  %d = load i32, ptr addrspace(3) %p, align 4
  ret void
}

; Whatever may order the lane ends it: barrier, fence, atomic, call, cross-lane operation, inline asm. An atomic access
; covers nothing.
; CHECK-LABEL: define amdgpu_kernel void @ordered.wavesan(
; CHECK: call void @__wavesan_lds_access({{.*}}, i32 1025, i32 [[#B:]],
; CHECK: tail call void @llvm.amdgcn.s.barrier()
; CHECK: call void @__wavesan_lds_access({{.*}}, i32 1025,
; CHECK-NEXT: load i32
; CHECK: fence
; CHECK: call void @__wavesan_lds_access({{.*}}, i32 1025,
; CHECK-NEXT: load i32
; CHECK: call void @__wavesan_lds_access
; CHECK: atomicrmw add
; CHECK: call void @__wavesan_lds_access({{.*}}, i32 1025,
; CHECK-NEXT: load i32
; CHECK: call i32 @llvm.amdgcn.readfirstlane
; CHECK: call void @__wavesan_lds_access({{.*}}, i32 1025,
; CHECK-NEXT: load i32
; CHECK: call void asm sideeffect "s_nop 0"
; CHECK: call void @__wavesan_lds_access({{.*}}, i32 1025,
; CHECK-NEXT: load i32
; CHECK: call void @llvm.amdgcn.s.sleep
; CHECK: call void @__wavesan_lds_access({{.*}}, i32 1025,
; CHECK-NEXT: load i32
; CHECK: ret void
define amdgpu_kernel void @ordered(i32 %i) #0 {
  %p = getelementptr [64 x i32], ptr addrspace(3) @tile, i32 0, i32 %i
  %a = load i32, ptr addrspace(3) %p, align 4
  tail call void @llvm.amdgcn.s.barrier()
  %b = load i32, ptr addrspace(3) %p, align 4
  fence syncscope("wavefront") release
  %c = load i32, ptr addrspace(3) %p, align 4
  %old = atomicrmw add ptr addrspace(3) %p, i32 1 syncscope("workgroup") monotonic
  %d = load i32, ptr addrspace(3) %p, align 4
  %l = call i32 @llvm.amdgcn.readfirstlane(i32 %d)
  %e = load i32, ptr addrspace(3) %p, align 4
  call void asm sideeffect "s_nop 0", ""()
  %f = load i32, ptr addrspace(3) %p, align 4
  call void @llvm.amdgcn.s.sleep(i32 1)
  %g = load i32, ptr addrspace(3) %p, align 4
  ret void
}

; Where waits count instructions, each one matters.
; CHECK-LABEL: define amdgpu_kernel void @counted.wavesan(
; CHECK: call void @__wavesan_lds_access
; CHECK: call void @__wavesan_lds_access
; CHECK-NEXT: load i32
; CHECK: call void @__wavesan_wait
define amdgpu_kernel void @counted(i32 %i) #0 {
  %p = getelementptr [64 x i32], ptr addrspace(3) @tile, i32 0, i32 %i
  store i32 1, ptr addrspace(3) %p, align 4
  %a = load i32, ptr addrspace(3) %p, align 4
  call void asm sideeffect "s_waitcnt lgkmcnt(1)", ""()
  ret void
}

declare void @llvm.amdgcn.s.barrier()
declare void @llvm.amdgcn.s.sleep(i32)
declare i32 @llvm.amdgcn.readfirstlane(i32)

attributes #0 = { "target-cpu"="gfx90a" "amdgpu-flat-work-group-size"="1,256" "uniform-work-group-size"="true" }
