; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Operations on named barriers: a hook in front, behind a wait, with the barrier's address, the operation and a site. The twin
; has barriers of its own. None of them is a barrier of the workgroup or a gap.
; REQUIRES: llvm-22
; RUN: split-file %s %t
; RUN: %opt -passes=wavesan-instrument,verify -S %t/named.ll | FileCheck %t/named.ll
; RUN: %opt -passes=wavesan,verify -S %t/named.ll | FileCheck --check-prefix=LINKED %t/named.ll
; RUN: %opt -passes=wavesan -S %t/named.ll | llc -mcpu=gfx1250 | FileCheck --check-prefix=ASM %t/named.ll
; RUN: not %opt -passes=wavesan -S %t/trap.ll 2>&1 | FileCheck %t/trap.ll

;--- named.ll
target triple = "amdgcn-amd-amdhsa"
@full = internal addrspace(3) global target("amdgcn.named.barrier", 0) poison
@pair = internal addrspace(3) global [2 x target("amdgcn.named.barrier", 0)] poison
; CHECK-DAG: @full.wavesan = internal addrspace(3) global target("amdgcn.named.barrier", 0) poison
; CHECK-LABEL: define amdgpu_kernel void @k.wavesan(
; CHECK:      call void @__wavesan_named_barrier(ptr addrspace(5) %wavesan.state, i32 ptrtoint (ptr addrspace(3) @full.wavesan to i32), i32 0, i32 0)
; CHECK-NEXT: call void @llvm.amdgcn.s.barrier.init(ptr addrspace(3) @full.wavesan, i32 2)
; CHECK:      call void @__wavesan_named_barrier({{.*}}, i32 {{.*}}, i32 1, i32 1)
; CHECK-NEXT: call void @llvm.amdgcn.s.barrier.join(ptr addrspace(3) %p)
; CHECK:      call void @__wavesan_named_barrier({{.*}}, i32 2, i32 2)
; CHECK-NEXT: call void @llvm.amdgcn.s.barrier.signal.var(ptr addrspace(3) %p, i32 0)
; CHECK-NEXT: call void @llvm.amdgcn.s.barrier.wait(i16 1)
; CHECK-NEXT: call void @__wavesan_named_barrier(ptr addrspace(5) %wavesan.state, i32 0, i32 4, i32 3)
; CHECK-NEXT: call i32 @llvm.amdgcn.s.get.named.barrier.state
; CHECK-NEXT: call void @__wavesan_named_barrier(ptr addrspace(5) %wavesan.state, i32 0, i32 3, i32 4)
; CHECK-NEXT: call void @llvm.amdgcn.s.barrier.leave(i16 1)
; CHECK-NEXT: call void @__wavesan_kernel_end
; LINKED-LABEL: define amdgpu_kernel void @k.wavesan(
; LINKED-NOT: __wavesan_named_barrier
; LINKED:     call void @llvm.amdgcn.s.barrier.leave(i16 1)
; ASM-LABEL: k.wavesan:
; ASM: s_barrier_init m0
; ASM: s_barrier_join m0
; ASM: s_barrier_signal m0
; ASM: s_barrier_wait 1
; ASM: s_barrier_leave
; ASM: .amdhsa_named_barrier_count 1
define amdgpu_kernel void @k(i32 %i) #0 {
  call void @llvm.amdgcn.s.barrier.init(ptr addrspace(3) @full, i32 2)
  %p = getelementptr [2 x target("amdgcn.named.barrier", 0)], ptr addrspace(3) @pair, i32 0, i32 %i
  call void @llvm.amdgcn.s.barrier.join(ptr addrspace(3) %p)
  call void @llvm.amdgcn.s.barrier.signal.var(ptr addrspace(3) %p, i32 0)
  call void @llvm.amdgcn.s.barrier.wait(i16 1)
  %s = call i32 @llvm.amdgcn.s.get.named.barrier.state(ptr addrspace(3) %p)
  call void @llvm.amdgcn.s.barrier.leave(i16 1)
  ret void
}
attributes #0 = { "target-cpu"="gfx1250" }

;--- trap.ll
target triple = "amdgcn-amd-amdhsa"
; CHECK: error: wavesan: kernel 'k': barrier -2 is not supported
define amdgpu_kernel void @k() #0 {
  call void @llvm.amdgcn.s.barrier.wait(i16 -2)
  ret void
}
attributes #0 = { "target-cpu"="gfx1250" }
