; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; AMDGPU intrinsics that access LDS, and everything that is not checked, with its reason. Masked accesses are written
; as LLVM 22 does, and older LLVMs do not know gfx950.
; REQUIRES: llvm-22
; RUN: %opt -passes=wavesan-instrument,verify -S %s | FileCheck %s
; RUN: %opt -passes=wavesan %s -o %t.bc
; RUN: llc -mcpu=gfx950 -filetype=obj %t.bc -o %t.o
; RUN: wavesan-site-dump %t.o | FileCheck --check-prefix=SITES %s
target triple = "amdgcn-amd-amdhsa"

@tile = internal addrspace(3) global [64 x i32] poison, align 16

; CHECK-LABEL: define amdgpu_kernel void @lds_intrinsics.wavesan(
; CHECK:      call void @__wavesan_lds_access({{.*}}, i32 33555463, i32 0,
; CHECK-NEXT: call i32 @llvm.amdgcn.ds.append
; CHECK-NEXT: call void @__wavesan_atomic_done({{.*}}, i32 33555463, i32 0, i1 true)
; CHECK-NEXT: call void @__wavesan_lds_access({{.*}}, i32 33555463, i32 1,
; CHECK-NEXT: call i32 @llvm.amdgcn.ds.consume
; CHECK-NEXT: call void @__wavesan_atomic_done({{.*}}, i32 33555463, i32 1, i1 true)
; CHECK-NEXT: call void @__wavesan_lds_access({{.*}}, i32 2049, i32 2,
; CHECK-NEXT: call <2 x i32> @llvm.amdgcn.ds.read.tr8.b64
; CHECK-NEXT: call i32 @llvm.amdgcn.ds.bpermute
; SITES: kernel lds_intrinsics twin lds_intrinsics.wavesan granule 2 sites 3
; SITES-NOT: skip
define amdgpu_kernel void @lds_intrinsics() #0 {
  %a = call i32 @llvm.amdgcn.ds.append.p3(ptr addrspace(3) @tile, i1 false)
  %c = call i32 @llvm.amdgcn.ds.consume.p3(ptr addrspace(3) @tile, i1 false)
  %t = call <2 x i32> @llvm.amdgcn.ds.read.tr8.b64.v2i32(ptr addrspace(3) @tile)
  %b = call i32 @llvm.amdgcn.ds.bpermute(i32 %a, i32 %c)
  ret void
}

; Both sides of a copy are accesses, the LDS side by a hook of its own: 1 << 24 consecutive lanes, 1 << 25 the compiler knows
; it. Accesses through a buffer resource: buffers.ll. A wait for a count above zero needs to know what else is issued.
; CHECK-LABEL: define amdgpu_kernel void @copies.wavesan(
; CHECK:      call void @__wavesan_global_access({{.*}}, i32 -2147482623,
; CHECK-NEXT: call void @__wavesan_lds_copy({{.*}}, i32 ptrtoint (ptr addrspace(3) @tile.wavesan to i32), i32 50332674,
; CHECK-NEXT: call void @llvm.amdgcn.global.load.lds
; CHECK:      call void @__wavesan_global_access({{.*}}, i32 -2147482623,
; CHECK:      call void @__wavesan_lds_copy(
; CHECK-NEXT: call void @llvm.amdgcn.raw.ptr.buffer.load.lds
; CHECK:      call void @__wavesan_vmem_issued({{.*}}, i32 1)
; CHECK:      call void @__wavesan_global_access({{.*}}, i32 -2147482623,
; CHECK:      call i32 @llvm.amdgcn.raw.ptr.buffer.load
; CHECK:      call void @llvm.amdgcn.s.waitcnt(i32 20336)
; CHECK-NEXT: call void @__wavesan_wait({{.*}}, i32 4224)
; SITES: kernel copies twin
; SITES-NOT:  skip
define amdgpu_kernel void @copies(ptr addrspace(1) %g, ptr addrspace(8) %r) #0 {
  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %g, ptr addrspace(3) @tile, i32 4, i32 0, i32 0)
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @tile, i32 4, i32 0, i32 0, i32 0, i32 0)
  %v = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) %r, i32 0, i32 0, i32 0)
  store i32 %v, ptr addrspace(1) %g
  call void @llvm.amdgcn.s.waitcnt(i32 20336) ; vmcnt(16)
  ret void
}

; A compiler barrier is no access. Barriers, sleeps and scheduling hints are none either.
; SITES: kernel others twin
; SITES-NEXT: skip 1: inline asm
; SITES-NEXT: skip 1: buffer with a format, fat pointer or image memory (not checked yet)
; SITES-NEXT: skip 1: wait for a count above zero{{$}}
define amdgpu_kernel void @others(ptr addrspace(1) %g, ptr addrspace(8) %r) #0 {
  call void asm sideeffect "", "~{memory}"()
  call void asm sideeffect "ds_write_b32 v0, $0", "v,~{memory}"(i32 0)
  %v = call float @llvm.amdgcn.raw.ptr.buffer.load.format.f32(ptr addrspace(8) %r, i32 0, i32 0, i32 0)
  store float %v, ptr addrspace(1) %g
  call void @llvm.amdgcn.ds.gws.barrier(i32 0, i32 0)
  call void @llvm.amdgcn.s.waitcnt(i32 20336) ; vmcnt(16)
  call void @llvm.amdgcn.s.sleep(i32 1)
  call void @llvm.amdgcn.sched.barrier(i32 0)
  call void @llvm.amdgcn.wave.barrier()
  ret void
}

; Masked accesses are checked lane by lane of the vector, under their mask.
; CHECK-LABEL: define amdgpu_kernel void @masked.wavesan(
; CHECK-COUNT-2: call void @__wavesan_lds_access({{.*}}, i32 1026,
; CHECK: ret void
; SITES-NEXT: kernel masked twin masked.wavesan granule 2 sites 2
define amdgpu_kernel void @masked(<2 x i32> %v, <2 x i1> %m) #0 {
  call void @llvm.masked.store.v2i32.p3(<2 x i32> %v, ptr addrspace(3) align 8 @tile, <2 x i1> %m)
  ret void
}
attributes #0 = { "target-cpu"="gfx950" }
