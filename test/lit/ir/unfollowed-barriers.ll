; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Barriers that no hook can describe: the kernel stays as it is, has no twin, and the site table says why. Others of the
; module are checked as ever.
; REQUIRES: llvm-22
; RUN: %opt -passes=wavesan,verify %s -o %t.bc
; RUN: llc -mcpu=gfx1250 -filetype=obj %t.bc -o %t.o
; RUN: wavesan-site-dump %t.o | FileCheck --check-prefix=SITES %s
; RUN: opt -S %t.bc -o - | FileCheck %s
target triple = "amdgcn-amd-amdhsa"
@full = internal addrspace(3) global target("amdgcn.named.barrier", 0) poison
@word = internal addrspace(3) global i32 poison

; CHECK-NOT: define {{.*}}@{{[a-z_]+}}.wavesan(
; CHECK: define {{.*}}@checked.wavesan(
; CHECK-NOT: define {{.*}}@{{[a-z_]+}}.wavesan(

; SITES: kernel by_number twin  granule 0 sites 0
; SITES-NEXT: skip 1: its named barriers are called by number or in inline assembly (by variable they are followed:
define amdgpu_kernel void @by_number() #0 {
  store i32 1, ptr addrspace(3) @word
  call void @llvm.amdgcn.s.barrier.signal(i32 1)
  ret void
}

; SITES: kernel in_assembly twin  granule 0 sites 0
; SITES-NEXT: skip 1: its named barriers
define amdgpu_kernel void @in_assembly() #0 {
  call void asm sideeffect "s_barrier_join 1\0As_barrier_wait 1", "~{memory}"()
  ret void
}

; SITES: kernel beside_a_branch twin  granule 0 sites 0
; SITES-NEXT: skip 1: its named barriers
define amdgpu_kernel void @beside_a_branch() #0 {
  call void asm sideeffect "s_cbranch_scc0 1f\0As_barrier_signal 2\0A1:", "~{memory}"()
  ret void
}

; SITES: kernel calls twin  granule 0 sites 0
; SITES-NEXT: skip 1: its named barriers
define internal void @helper() #1 {
  call void asm sideeffect "s_barrier_leave", "~{memory}"()
  ret void
}
define amdgpu_kernel void @calls() #0 {
  call void @helper()
  ret void
}

; SITES: kernel wakes twin  granule 0 sites 0
; SITES-NEXT: skip 1: it executes s_wakeup_barrier
define amdgpu_kernel void @wakes() #0 {
  call void @llvm.amdgcn.s.wakeup.barrier(ptr addrspace(3) @full)
  ret void
}

; SITES: kernel wakes_in_assembly twin  granule 0 sites 0
; SITES-NEXT: skip 1: it executes s_wakeup_barrier
define amdgpu_kernel void @wakes_in_assembly() #0 {
  call void asm sideeffect "s_wakeup_barrier 1", "~{memory}"()
  ret void
}

; SITES: kernel reversed twin  granule 0 sites 0
; SITES-NEXT: skip 1: inline assembly of it waits for a barrier and then signals it
define amdgpu_kernel void @reversed() #0 {
  call void asm sideeffect "s_barrier_wait -1\0As_barrier_signal -1", "~{memory}"()
  ret void
}

; SITES: kernel checked twin checked.wavesan granule 2 sites 1
define amdgpu_kernel void @checked() #0 {
  store i32 1, ptr addrspace(3) @word
  call void asm sideeffect "s_barrier_signal -1\0As_barrier_wait -1", "~{memory}"()
  call void @llvm.amdgcn.s.barrier.signal(i32 -3)
  ret void
}
attributes #0 = { "target-cpu"="gfx1250" }
attributes #1 = { noinline "target-cpu"="gfx1250" }
