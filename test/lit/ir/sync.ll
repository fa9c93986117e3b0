; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Barriers, fences with every scope and annotation, waits by target.
; RUN: split-file %s %t
; RUN: %opt -passes=wavesan-instrument,verify -S %t/gfx9.ll | FileCheck %t/gfx9.ll
; RUN: %opt -passes=wavesan-instrument,verify -S %t/gfx10.ll | FileCheck %t/gfx10.ll
; RUN: %opt -passes=wavesan-instrument,verify -S %t/gfx11.ll | FileCheck %t/gfx11.ll
; RUN: %opt -passes=wavesan-instrument,verify -S %t/gfx12.ll | FileCheck %t/gfx12.ll

;--- gfx9.ll
target triple = "amdgcn-amd-amdhsa"
; CHECK-LABEL: define amdgpu_kernel void @barrier.wavesan(
; CHECK:      call void @__wavesan_barrier_arrive(ptr addrspace(5) %wavesan.state, i32 0)
; CHECK-NEXT: call void @llvm.amdgcn.s.barrier()
; CHECK-NEXT: call void @__wavesan_barrier_leave(ptr addrspace(5) %wavesan.state, i32 0)
define amdgpu_kernel void @barrier() #0 {
  call void @llvm.amdgcn.s.barrier()
  ret void
}
; Bits: acquire 1, release 2, LDS 4, global 8, seq_cst 16; scope << 8.
; CHECK-LABEL: define amdgpu_kernel void @fences.wavesan(
; CHECK:      fence syncscope("singlethread") acquire
; CHECK-NEXT: call void @__wavesan_fence(ptr addrspace(5) %wavesan.state, i32 13)
; CHECK-NEXT: fence syncscope("wavefront") release
; CHECK-NEXT: i32 270)
; CHECK-NEXT: fence syncscope("workgroup") acq_rel
; CHECK-NEXT: i32 527)
; CHECK-NEXT: fence syncscope("cluster") acquire
; CHECK-NEXT: i32 781)
; CHECK-NEXT: fence syncscope("agent") seq_cst
; CHECK-NEXT: i32 1055)
; CHECK-NEXT: fence seq_cst
; CHECK-NEXT: i32 1311)
; CHECK-NEXT: fence syncscope("one-as") release
; CHECK-NEXT: i32 1294)
; CHECK-NEXT: fence syncscope("workgroup-one-as") release
; CHECK-NEXT: i32 526)
; CHECK-NEXT: fence syncscope("workgroup") release, !mmra
; CHECK-NEXT: i32 518)
; CHECK-NEXT: fence syncscope("workgroup") release, !mmra
; CHECK-NEXT: i32 522)
; CHECK-NEXT: fence syncscope("workgroup") release, !mmra
; CHECK-NEXT: i32 526)
define amdgpu_kernel void @fences() #0 {
  fence syncscope("singlethread") acquire
  fence syncscope("wavefront") release
  fence syncscope("workgroup") acq_rel
  fence syncscope("cluster") acquire
  fence syncscope("agent") seq_cst
  fence seq_cst
  fence syncscope("one-as") release
  fence syncscope("workgroup-one-as") release
  fence syncscope("workgroup") release, !mmra !0
  fence syncscope("workgroup") release, !mmra !1
  fence syncscope("workgroup") release, !mmra !2
  ret void
}
; Ordered global atomics order LDS too, unless their scope says one-as.
; CHECK-LABEL: define amdgpu_kernel void @global_atomics.wavesan(
; CHECK:      call void @__wavesan_fence({{.*}}, i32 1070)
; CHECK:      store atomic
; CHECK-NOT:  call void @__wavesan_fence
; CHECK:      load atomic
; CHECK-NOT:  {{^}}  load
; CHECK:      call void @__wavesan_fence({{.*}}, i32 1065)
; CHECK-NOT:  call void @__wavesan_fence
; CHECK:      atomicrmw
; CHECK-NOT:  call void @__wavesan_fence
; CHECK:      ret void
define amdgpu_kernel void @global_atomics(ptr addrspace(1) %p) #0 {
  store atomic i32 0, ptr addrspace(1) %p syncscope("agent") release, align 4
  %a = load atomic i32, ptr addrspace(1) %p syncscope("agent-one-as") acquire, align 4
  %b = atomicrmw add ptr addrspace(1) %p, i32 1 syncscope("agent") monotonic
  ret void
}
; gfx9: vmcnt[3:0] and [15:14], expcnt[6:4], lgkmcnt[11:8]. Completed: LDS 1, VMEM 2; a count of VMEM << 8, with 128
; where stores count too.
; CHECK-LABEL: define amdgpu_kernel void @waits.wavesan(
; CHECK:      call void @llvm.amdgcn.s.waitcnt(i32 0)
; CHECK-NEXT: call void @__wavesan_wait(ptr addrspace(5) %wavesan.state, i32 3)
; CHECK-NEXT: call void @llvm.amdgcn.s.waitcnt(i32 49279)
; CHECK-NEXT: call void @__wavesan_wait(ptr addrspace(5) %wavesan.state, i32 1)
; CHECK-NEXT: call void @llvm.amdgcn.s.waitcnt(i32 3952)
; CHECK-NEXT: call void @__wavesan_wait(ptr addrspace(5) %wavesan.state, i32 2)
; CHECK-NEXT: call void @llvm.amdgcn.s.waitcnt(i32 20336)
; CHECK-NEXT: call void @__wavesan_wait(ptr addrspace(5) %wavesan.state, i32 4224)
; CHECK-NEXT: call void @__wavesan_kernel_end
define amdgpu_kernel void @waits() #0 {
  call void @llvm.amdgcn.s.waitcnt(i32 0)
  call void @llvm.amdgcn.s.waitcnt(i32 49279) ; lgkmcnt(0)
  call void @llvm.amdgcn.s.waitcnt(i32 3952)  ; vmcnt(0)
  call void @llvm.amdgcn.s.waitcnt(i32 20336) ; vmcnt(16): the low four bits are 0, the high ones are not
  ret void
}
; Two ends: the return and endpgm.
; CHECK-LABEL: define amdgpu_kernel void @ends.wavesan(
; CHECK:      call void @__wavesan_kernel_end
; CHECK-NEXT: call void @llvm.amdgcn.endpgm()
; CHECK:      call void @__wavesan_kernel_end
; CHECK-NEXT: ret void
define amdgpu_kernel void @ends(i1 %c) #0 {
  br i1 %c, label %a, label %b
a:
  call void @llvm.amdgcn.endpgm()
  unreachable
b:
  ret void
}
attributes #0 = { "target-cpu"="gfx90a" }
!0 = !{!"amdgpu-synchronize-as", !"local"}
!1 = !{!"amdgpu-synchronize-as", !"global"}
!2 = !{!0, !1}

;--- gfx10.ll
target triple = "amdgcn-amd-amdhsa"
; gfx10: lgkmcnt[13:8]. A count of LDS instructions is at bit 24.
; CHECK-LABEL: define amdgpu_kernel void @waits.wavesan(
; CHECK:      call void @llvm.amdgcn.s.waitcnt(i32 49279)
; CHECK-NEXT: call void @__wavesan_wait(ptr addrspace(5) %wavesan.state, i32 1)
; CHECK-NEXT: call void @llvm.amdgcn.s.waitcnt(i32 53375)
; CHECK-NEXT: call void @__wavesan_wait(ptr addrspace(5) %wavesan.state, i32 268435456)
; CHECK-NEXT: call void @__wavesan_kernel_end
define amdgpu_kernel void @waits() #0 {
  call void @llvm.amdgcn.s.waitcnt(i32 49279) ; lgkmcnt(0)
  call void @llvm.amdgcn.s.waitcnt(i32 53375) ; lgkmcnt(16)
  ret void
}
attributes #0 = { "target-cpu"="gfx1030" }

;--- gfx11.ll
target triple = "amdgcn-amd-amdhsa"
; gfx11: lgkmcnt[9:4], vmcnt[15:10].
; CHECK-LABEL: define amdgpu_kernel void @waits.wavesan(
; CHECK:      call void @llvm.amdgcn.s.waitcnt(i32 64519)
; CHECK-NEXT: call void @__wavesan_wait(ptr addrspace(5) %wavesan.state, i32 1)
; CHECK-NEXT: call void @llvm.amdgcn.s.waitcnt(i32 1015)
; CHECK-NEXT: call void @__wavesan_wait(ptr addrspace(5) %wavesan.state, i32 2)
define amdgpu_kernel void @waits() #0 {
  call void @llvm.amdgcn.s.waitcnt(i32 64519) ; lgkmcnt(0)
  call void @llvm.amdgcn.s.waitcnt(i32 1015)  ; vmcnt(0)
  ret void
}
attributes #0 = { "target-cpu"="gfx1100" }

;--- gfx12.ll
target triple = "amdgcn-amd-amdhsa"
; CHECK-LABEL: define amdgpu_kernel void @split.wavesan(
; CHECK:      call void @llvm.amdgcn.s.wait.dscnt(i16 0)
; CHECK-NEXT: call void @__wavesan_wait(ptr addrspace(5) %wavesan.state, i32 1)
; CHECK-NEXT: call void @__wavesan_barrier_arrive(ptr addrspace(5) %wavesan.state, i32 0)
; CHECK-NEXT: call void @llvm.amdgcn.s.barrier.signal(i32 -1)
; CHECK-NEXT: call void @llvm.amdgcn.s.wait.loadcnt(i16 0)
; CHECK-NEXT: call void @__wavesan_wait(ptr addrspace(5) %wavesan.state, i32 2)
; CHECK-NEXT: call void @llvm.amdgcn.s.barrier.wait(i16 -1)
; CHECK-NEXT: call void @__wavesan_barrier_leave(ptr addrspace(5) %wavesan.state, i32 1)
; CHECK-NEXT: call void @__wavesan_barrier_arrive(ptr addrspace(5) %wavesan.state, i32 2)
; CHECK-NEXT: call i1 @llvm.amdgcn.s.barrier.signal.isfirst(i32 -1)
; CHECK-NEXT: call void @llvm.amdgcn.s.wait.dscnt(i16 1)
; CHECK-NEXT: call void @__wavesan_wait(ptr addrspace(5) %wavesan.state, i32 16777216)
; CHECK-NEXT: call void @__wavesan_kernel_end
define amdgpu_kernel void @split() #0 {
  call void @llvm.amdgcn.s.wait.dscnt(i16 0)
  call void @llvm.amdgcn.s.barrier.signal(i32 -1)
  call void @llvm.amdgcn.s.wait.loadcnt(i16 0)
  call void @llvm.amdgcn.s.barrier.wait(i16 -1)
  call i1 @llvm.amdgcn.s.barrier.signal.isfirst(i32 -1)
  call void @llvm.amdgcn.s.wait.dscnt(i16 1)
  ret void
}
attributes #0 = { "target-cpu"="gfx1200" }
