; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Flat pointers: LDS where it is known, decided at run time where it is not, skipped where it cannot be LDS.
; RUN: %opt -passes=wavesan-instrument,verify -S %s | FileCheck %s
; RUN: %opt -passes=wavesan %s -o %t.bc
; RUN: llc -filetype=obj %t.bc -o %t.o
; RUN: wavesan-site-dump %t.o | FileCheck --check-prefix=SITES %s
target triple = "amdgcn-amd-amdhsa"

@tile = internal addrspace(3) global [64 x i32] poison, align 16

; InferAddressSpaces finds the LDS variable behind the cast.
; CHECK-LABEL: define amdgpu_kernel void @known.wavesan(
; CHECK:      call void @__wavesan_lds_access({{.*}}, i32 ptrtoint (ptr addrspace(3) @tile.wavesan to i32))
; CHECK-NEXT: store i32 1, ptr addrspace(3) @tile.wavesan
; CHECK-NOT:  generic
; CHECK:      ret void
; SITES: kernel known twin known.wavesan granule 2 sites 1
define amdgpu_kernel void @known() #0 {
  store i32 1, ptr addrspacecast (ptr addrspace(3) @tile to ptr), align 4
  ret void
}

; CHECK-LABEL: define amdgpu_kernel void @unknown.wavesan(
; CHECK:      call void @__wavesan_generic_access(ptr addrspace(5) %wavesan.state, ptr %p, i32 513, i32 1)
; CHECK-NEXT: load i16, ptr %p
; CHECK:      call void @__wavesan_generic_range(ptr addrspace(5) %wavesan.state, ptr %p, i64 %n, i32 2, i32 2)
; CHECK-NEXT: call void @llvm.memset
; SITES: kernel unknown twin unknown.wavesan granule 0 sites 2
; SITES: skip 1: global memory (not checked yet)
; SITES: skip 2: generic pointer, where it is global memory (not checked yet)
define amdgpu_kernel void @unknown(ptr addrspace(1) %g, i64 %n) #0 {
  %p = load ptr, ptr addrspace(1) %g
  %v = load i16, ptr %p, align 2
  call void @llvm.memset.p0.i64(ptr align 4 %p, i8 0, i64 %n, i1 false)
  ret void
}

; A pointer that the host passed, private memory and constants are no LDS.
; CHECK-LABEL: define amdgpu_kernel void @never.wavesan(
; CHECK-NOT:  __wavesan_{{lds|generic}}
; CHECK:      ret void
; SITES: kernel never twin never.wavesan granule 2 sites 0
; SITES: skip 2: global memory (not checked yet)
; SITES: skip 1: constant memory (read only)
; SITES-NOT: skip
define amdgpu_kernel void @never(ptr %host, ptr addrspace(1) %g, ptr addrspace(4) %c) #0 {
  %private = alloca [4 x i32], addrspace(5)
  %flat = addrspacecast ptr addrspace(5) %private to ptr
  store volatile i32 1, ptr %flat
  store i32 1, ptr %host
  %cast = addrspacecast ptr addrspace(1) %g to ptr
  store i32 1, ptr %cast
  %v = load i32, ptr addrspace(4) %c
  ret void
}

; Either of two variables: LDS, but which one is not known.
; CHECK-LABEL: define amdgpu_kernel void @either.wavesan(
; CHECK:      call void @__wavesan_lds_access({{.*}}, i32 1025, i32 3, i32 -1)
; SITES: site 0: access write size 4 'store' of tile
; SITES: site 3: access read size 4 'load'{{$}}
@other = internal addrspace(3) global i32 poison, align 4
define amdgpu_kernel void @either(i1 %c) #0 {
  %p = select i1 %c, ptr addrspace(3) @tile, ptr addrspace(3) @other
  %v = load i32, ptr addrspace(3) %p
  ret void
}

attributes #0 = { "target-cpu"="gfx90a" }
