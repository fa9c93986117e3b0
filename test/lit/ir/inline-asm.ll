; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Inline asm: waits, barriers and memory instructions are understood; the rest is counted.
; RUN: split-file %s %t
; RUN: %opt -passes=wavesan-instrument,verify -S %t/gfx9.ll | FileCheck %t/gfx9.ll
; RUN: %opt -passes=wavesan-instrument,verify -S %t/gfx12.ll | FileCheck %t/gfx12.ll
; RUN: %opt -passes=wavesan %t/gfx9.ll -o %t.bc
; RUN: llc -filetype=obj %t.bc -o %t.o
; RUN: wavesan-site-dump %t.o | FileCheck --check-prefix=SITES %t/gfx9.ll

;--- gfx9.ll
target triple = "amdgcn-amd-amdhsa"
@tile = internal addrspace(3) global [64 x i32] poison, align 16

; Completed: LDS 1, VMEM 2; vmcnt(3): 3 << 8, and 128 where the counter counts stores too. ';' begins a comment of the assembler.
; CHECK-LABEL: define amdgpu_kernel void @waits.wavesan(
; CHECK:      asm sideeffect "s_waitcnt vmcnt(0) & lgkmcnt(0)"
; CHECK-NEXT: call void @__wavesan_wait(ptr addrspace(5) %wavesan.state, i32 3)
; CHECK-NEXT: asm sideeffect "\09s_waitcnt lgkmcnt( 0 )
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 1)
; CHECK-NEXT: asm sideeffect "s_waitcnt vmcnt($0)"
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 2)
; CHECK-NEXT: asm sideeffect "s_waitcnt 0xc07f"
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 1)
; CHECK-NEXT: asm sideeffect "s_waitcnt vmcnt(0) lgkmcnt(4)"
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 67108866)
; CHECK-NEXT: asm sideeffect "s_waitcnt vmcnt(3)"
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 896)
; CHECK-NEXT: asm sideeffect "s_waitcnt expcnt(0)"
; CHECK-NEXT: asm sideeffect "; s_waitcnt 0
; CHECK-NEXT: asm sideeffect "s_nop 0
; CHECK-NEXT: call void @__wavesan_kernel_end
; SITES: kernel waits twin {{.*}} sites 0
; SITES-NEXT: skip 1: wait for a count above zero
define amdgpu_kernel void @waits() #0 {
  call void asm sideeffect "s_waitcnt vmcnt(0) & lgkmcnt(0)", "~{memory}"()
  call void asm sideeffect "\09s_waitcnt lgkmcnt( 0 ) // all\0A", "~{memory}"()
  call void asm sideeffect "s_waitcnt vmcnt($0)", "n,~{memory}"(i32 0)
  call void asm sideeffect "s_waitcnt 0xc07f", "~{memory}"()
  call void asm sideeffect "s_waitcnt vmcnt(0) lgkmcnt(4)", "~{memory}"()
  call void asm sideeffect "s_waitcnt vmcnt(3)", "~{memory}"()
  call void asm sideeffect "s_waitcnt expcnt(0)", "~{memory}"()
  call void asm sideeffect "; s_waitcnt 0\0A/* s_barrier\0A*/", "~{memory}"()
  call void asm sideeffect "s_nop 0\0As_sleep 1\0As_setprio 2", "~{memory}"()
  ret void
}

; Waits in front of the barrier complete what came before it, those behind it come behind it.
; CHECK-LABEL: define amdgpu_kernel void @barriers.wavesan(
; CHECK:      call void @__wavesan_barrier_arrive({{.*}}, i32 [[B:[0-9]+]])
; CHECK-NEXT: asm sideeffect "s_barrier"
; CHECK-NEXT: call void @__wavesan_barrier_leave({{.*}}, i32 [[B]])
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 1)
; CHECK-NEXT: call void @__wavesan_barrier_arrive(
; CHECK-NEXT: asm sideeffect "s_waitcnt lgkmcnt(0)\0As_barrier\0As_waitcnt vmcnt(0)"
; CHECK-NEXT: call void @__wavesan_barrier_leave(
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 2)
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 1)
; CHECK-NEXT: call void @__wavesan_barrier_arrive(
; CHECK-NEXT: asm sideeffect "s_barrier\0As_waitcnt lgkmcnt(0)\0As_barrier"
; CHECK-NEXT: call void @__wavesan_barrier_leave(
; CHECK-NEXT: call void @__wavesan_kernel_end
; SITES: kernel barriers twin {{.*}} sites 0
; SITES-NEXT: skip 3: barriers without debug info
; SITES-NEXT: kernel memory
define amdgpu_kernel void @barriers() #0 {
  call void asm sideeffect "s_barrier", "~{memory}"()
  call void asm sideeffect "s_waitcnt lgkmcnt(0)\0As_barrier\0As_waitcnt vmcnt(0)", "~{memory}"()
  call void asm sideeffect "s_barrier\0As_waitcnt lgkmcnt(0)\0As_barrier", "~{memory}"()
  ret void
}

; info: read 1, write 2, atomic 4, size << 8, one instruction 1 << 30, no instruction of
; its own 1 << 31; atomics: scope << 24 (workgroup 2 in LDS, agent 4 in global memory).
; CHECK-LABEL: define amdgpu_kernel void @memory.wavesan(
; CHECK:      call void @__wavesan_lds_access(ptr addrspace(5) %wavesan.state, i32 %a, i32 1073742850, i32 [[#S:]], i32 ptrtoint (ptr addrspace(3) @tile.wavesan to i32))
; CHECK-NEXT: asm sideeffect "ds_write_b32 $0, $1"
; CHECK-NEXT: [[O:%[0-9]+]] = add i32 %a, 16
; CHECK-NEXT: call void @__wavesan_lds_access({{.*}}, i32 [[O]], i32 1073745921, i32 [[#S+1]],
; CHECK-NEXT: asm sideeffect "ds_read_b128 $0, $1 offset:16\0As_waitcnt lgkmcnt(0)"
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 1)
; CHECK-NEXT: [[P:%[0-9]+]] = add i32 %a, 4
; CHECK-NEXT: call void @__wavesan_lds_access({{.*}}, i32 [[P]], i32 1073742849, i32 [[#S+2]],
; CHECK-NEXT: [[Q:%[0-9]+]] = add i32 %a, 12
; CHECK-NEXT: call void @__wavesan_lds_access({{.*}}, i32 [[Q]], i32 -1073740799, i32 [[#S+2]],
; CHECK-NEXT: asm sideeffect "ds_read2_b32
; CHECK-NEXT: call void @__wavesan_lds_access({{.*}}, i32 %a, i32 1107297287, i32 [[#S+3]],
; CHECK-NEXT: asm sideeffect "ds_add_rtn_u32 $0, $1, $2\0As_waitcnt lgkmcnt(0)"
; CHECK-NEXT: [[L:%[0-9]+]] = inttoptr i32 %a to ptr addrspace(3)
; CHECK-NEXT: [[F:%[0-9]+]] = addrspacecast ptr addrspace(3) [[L]] to ptr
; CHECK-NEXT: call void @__wavesan_atomic_done({{.*}}, ptr [[F]], i32 1107297287, i32 [[#S+3]], i1 true)
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 1)
; CHECK:      call void @__wavesan_global_access({{.*}}, i32 1073742849, i32 [[#S+4]])
; CHECK-NEXT: asm sideeffect "global_load_dword $0, $1, off"
; CHECK-NEXT: [[I:%[0-9]+]] = inttoptr i64 %n to ptr
; CHECK-NEXT: [[J:%[0-9]+]] = getelementptr i8, ptr [[I]], i64 -8
; CHECK-NEXT: call void @__wavesan_global_access({{.*}}, ptr [[J]], i32 1073743874, i32 [[#S+5]])
; CHECK-NEXT: asm sideeffect "global_store_dwordx2 $0, $1, off offset:-8 glc"
; CHECK:      call void @__wavesan_global_access({{.*}}, i32 1140851719, i32 [[#S+6]])
; CHECK-NEXT: asm sideeffect "global_atomic_add $0, $1, off"
; CHECK:      call void @__wavesan_atomic_done({{.*}}, i32 1140851719, i32 [[#S+6]], i1 true)
; CHECK-NEXT: call void @__wavesan_generic_access({{.*}}, ptr %flat, i32 1073742082, i32 [[#S+7]])
; CHECK-NEXT: asm sideeffect "flat_store_byte $0, $1"
; SITES: twin memory.wavesan granule 0 sites 8
; SITES-NEXT: kernel
define amdgpu_kernel void @memory(ptr addrspace(1) %g, i64 %n, i32 %i) #0 {
  %flat = inttoptr i64 %n to ptr
  %p = getelementptr i32, ptr addrspace(3) @tile, i32 %i
  %a = ptrtoint ptr addrspace(3) %p to i32
  call void asm sideeffect "ds_write_b32 $0, $1", "v,v,~{memory}"(i32 %a, i32 1)
  %r = call <4 x i32> asm sideeffect "ds_read_b128 $0, $1 offset:16\0As_waitcnt lgkmcnt(0)", "=&v,v,~{memory}"(i32 %a)
  %d = call i64 asm sideeffect "ds_read2_b32 $0, $1 offset0:1 offset1:3", "=v,v,~{memory}"(i32 %a)
  %x = call i32 asm sideeffect "ds_add_rtn_u32 $0, $1, $2\0As_waitcnt lgkmcnt(0)", "=&v,v,v,~{memory}"(i32 %a, i32 1)
  %l = call i32 asm sideeffect "global_load_dword $0, $1, off", "=&v,v,~{memory}"(ptr addrspace(1) %g)
  call void asm sideeffect "global_store_dwordx2 $0, $1, off offset:-8 glc", "v,v,~{memory}"(i64 %n, i64 0)
  call void asm sideeffect "global_atomic_add $0, $1, off", "v,v,~{memory}"(ptr addrspace(1) %g, i32 1)
  call void asm sideeffect "flat_store_byte $0, $1", "v,v,~{memory}"(ptr %flat, i32 1)
  ret void
}

; A memory instruction and a barrier in one text: the access comes first, complete if the text waits in between.
; CHECK-LABEL: define amdgpu_kernel void @both.wavesan(
; CHECK:      call void @__wavesan_lds_access(
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 1)
; CHECK-NEXT: call void @__wavesan_barrier_arrive(
; CHECK-NEXT: asm sideeffect "ds_write_b32 $0, $1\0As_waitcnt lgkmcnt(0)\0As_barrier"
; CHECK-NEXT: call void @__wavesan_barrier_leave(
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 1)
; CHECK-NEXT: call void @__wavesan_lds_access(
; CHECK-NEXT: asm sideeffect "s_waitcnt lgkmcnt(0)\0Ads_write_b32 $0, $1"
; CHECK-NEXT: call void @__wavesan_kernel_end
; SITES-NOT: skip
define amdgpu_kernel void @both(i32 %a) #0 {
  call void asm sideeffect "ds_write_b32 $0, $1\0As_waitcnt lgkmcnt(0)\0As_barrier", "v,v,~{memory}"(i32 %a, i32 1)
  call void asm sideeffect "s_waitcnt lgkmcnt(0)\0Ads_write_b32 $0, $1", "v,v,~{memory}"(i32 %a, i32 1)
  ret void
}

; Several instructions in one text, arithmetic, addresses in two parts, and copies to LDS at an M0 that the text sets.
; CHECK-LABEL: define amdgpu_kernel void @several.wavesan(
; CHECK:      call void @__wavesan_lds_access({{.*}}, i32 %a, i32 1073742850,
; CHECK:      call void @__wavesan_wait({{.*}}, i32 1)
; CHECK-NEXT: [[A4:%[0-9]+]] = add i32 %a, 4
; CHECK-NEXT: call void @__wavesan_lds_access({{.*}}, i32 [[A4]], i32 1073742850,
; CHECK-NEXT: asm sideeffect "v_mov_b32 v7, 3\0Ads_write_b32 $0, v7\0As_waitcnt lgkmcnt(0)\0Ads_write_b32 $0, v7 offset:4"
; CHECK-NEXT: call void @__wavesan_barrier_arrive(
; CHECK-NEXT: asm sideeffect "s_barrier\0Ads_read_b32 $0, $1\0As_waitcnt lgkmcnt(0)"
; CHECK-NEXT: call void @__wavesan_barrier_leave(
; CHECK-NEXT: call void @__wavesan_lds_access({{.*}}, i32 %a, i32 1073742849,
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 1)
; CHECK-NEXT: [[N:%[0-9]+]] = inttoptr i64 %n to ptr
; CHECK-NEXT: [[Z:%[0-9]+]] = zext i32 %a to i64
; CHECK-NEXT: [[G:%[0-9]+]] = getelementptr i8, ptr [[N]], i64 [[Z]]
; CHECK-NEXT: call void @__wavesan_global_access({{.*}}, ptr [[G]], i32 1073742850,
; CHECK-NEXT: asm sideeffect "global_store_dword $0, $1, $2"
; Consecutive lanes: 1 << 24; the global side: 1 << 31.
; CHECK:      call void @__wavesan_global_access({{.*}}, i32 -2147482623,
; CHECK-NEXT: call void @__wavesan_lds_copy({{.*}}, i32 %a, i32 16778242,
; CHECK-NEXT: asm sideeffect "s_mov_b32 m0, $1\0As_nop 0\0Aglobal_load_dword $0, off lds"
; SITES: kernel several twin
; SITES-NOT: skip
; SITES: kernel unknown
define amdgpu_kernel void @several(i32 %a, i64 %n) #0 {
  call void asm sideeffect "v_mov_b32 v7, 3\0Ads_write_b32 $0, v7\0As_waitcnt lgkmcnt(0)\0Ads_write_b32 $0, v7 offset:4", "v,~{v7},~{memory}"(i32 %a)
  %r = call i32 asm sideeffect "s_barrier\0Ads_read_b32 $0, $1\0As_waitcnt lgkmcnt(0)", "=v,v,~{memory}"(i32 %a)
  call void asm sideeffect "global_store_dword $0, $1, $2", "v,v,s,~{memory}"(i32 %a, i32 %a, i64 %n)
  call void asm sideeffect "s_mov_b32 m0, $1\0As_nop 0\0Aglobal_load_dword $0, off lds", "v,s,~{memory}"(i64 %n, i32 %a)
  call void asm sideeffect "buffer_wbinvl1", "~{memory}"()
  ret void
}

; Not understood: counted. A barrier beside an unknown instruction happens all the same; behind a branch it may not.
; CHECK-LABEL: define amdgpu_kernel void @unknown.wavesan(
; CHECK-NOT:  __wavesan_{{lds|global|generic}}
; CHECK:      call void @__wavesan_barrier_arrive(
; CHECK-NEXT: asm sideeffect "image_load v0, v0, s[0:7]\0As_barrier"
; CHECK-NEXT: call void @__wavesan_barrier_leave(
; CHECK-NOT:  __wavesan_{{lds|global|generic|barrier}}
; CHECK:      ret void
; SITES-SAME: twin {{.*}} sites 0
; SITES-NEXT: skip 6: inline asm
; SITES: access write size 4 'inline asm ds_write_b32' of tile
; SITES: access read size 16 'inline asm ds_read_b128' of tile
; SITES: access read size 0 'inline asm ds_read2_b32' of tile
; SITES: access read|write|atomic size 4 'inline asm ds_add_rtn_u32' of tile
; SITES: access read size 4 'inline asm global_load_dword' of g
; SITES: access read|write|atomic size 4 'inline asm global_atomic_add' of g
define amdgpu_kernel void @unknown(i32 %a, i64 %n) #0 {
  call void asm sideeffect "image_load v0, v0, s[0:7]\0As_barrier", "~{v0},~{memory}"()
  call void asm sideeffect "s_cbranch_execz 1\0As_barrier", "~{memory}"()
  call void asm sideeffect "ds_write_b32 v0, $0", "v,~{memory}"(i32 %a)
  call void asm sideeffect "s_mov_b64 exec, 1\0Ads_write_b32 $0, $0", "v,~{memory}"(i32 %a)
  call i32 asm sideeffect "v_add_u32 $0, 4, $0\0Ads_write_b32 $0, $0", "=v,0,~{memory}"(i32 %a)
  %pure = call i32 asm "v_add_u32 $0, $1, $1", "=v,v"(i32 %a) memory(none)
  %reads = call i32 asm "ds_cmpst_rtn_b32 $0, $1, $1, $1", "=v,v"(i32 %a) memory(none)
  ret void
}
attributes #0 = { "target-cpu"="gfx90a" }

;--- gfx12.ll
target triple = "amdgcn-amd-amdhsa"
; CHECK-LABEL: define amdgpu_kernel void @split.wavesan(
; CHECK:      asm sideeffect "s_wait_dscnt 0x0"
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 1)
; CHECK-NEXT: asm sideeffect "s_wait_loadcnt 0x0"
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 2)
; CHECK-NEXT: asm sideeffect "s_wait_loadcnt_dscnt 0x100"
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 257)
; CHECK-NEXT: asm sideeffect "s_wait_kmcnt 0x0"
; CHECK-NEXT: call void @__wavesan_barrier_arrive(
; CHECK-NEXT: asm sideeffect "s_barrier_signal -1"
; CHECK-NEXT: asm sideeffect "s_barrier_wait 0xffff"
; CHECK-NEXT: call void @__wavesan_barrier_leave(
; CHECK-NEXT: call void @__wavesan_kernel_end
define amdgpu_kernel void @split() #0 {
  call void asm sideeffect "s_wait_dscnt 0x0", "~{memory}"()
  call void asm sideeffect "s_wait_loadcnt 0x0", "~{memory}"()
  call void asm sideeffect "s_wait_loadcnt_dscnt 0x100", "~{memory}"()
  call void asm sideeffect "s_wait_kmcnt 0x0", "~{memory}"()
  call void asm sideeffect "s_barrier_signal -1", "~{memory}"()
  call void asm sideeffect "s_barrier_wait 0xffff", "~{memory}"()
  ret void
}
attributes #0 = { "target-cpu"="gfx1200" }
