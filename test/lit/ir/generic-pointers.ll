; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Flat pointers: LDS or global memory where it is known, decided at run time where it is not.
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
; CHECK:      call void @__wavesan_generic_access(ptr addrspace(5) %wavesan.state, ptr %p, i32 513, i32 2)
; CHECK-NEXT: load i16, ptr %p
; CHECK:      call void @__wavesan_generic_range(ptr addrspace(5) %wavesan.state, ptr %p, i64 %n, i32 2, i32 3)
; CHECK-NEXT: call void @llvm.memset
; SITES: kernel unknown twin unknown.wavesan granule 0 sites 3
; SITES-NOT: skip
define amdgpu_kernel void @unknown(ptr addrspace(1) %g, i64 %n) #0 {
  %p = load ptr, ptr addrspace(1) %g
  %v = load i16, ptr %p, align 2
  call void @llvm.memset.p0.i64(ptr align 4 %p, i8 0, i64 %n, i1 false)
  ret void
}

; A pointer that the host passed is global memory. Private memory and constants cannot race.
; CHECK-LABEL: define amdgpu_kernel void @never.wavesan(
; CHECK-NOT:  __wavesan_{{lds|generic}}
; CHECK:      call void @__wavesan_global_access(ptr addrspace(5) %wavesan.state, ptr %{{[0-9a-z]+}}, i32 1026, i32 4)
; CHECK-NOT:  __wavesan_{{lds|generic}}
; CHECK:      call void @__wavesan_global_access({{.*}}, i32 1026, i32 5)
; CHECK-NOT:  __wavesan_{{lds|generic|global}}
; CHECK:      ret void
; SITES: kernel never twin never.wavesan granule 2 sites 2
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
; CHECK:      call void @__wavesan_lds_access({{.*}}, i32 1025, i32 6, i32 -1)

; Private or global: the hook looks. Constant or global is global.
; CHECK-LABEL: define amdgpu_kernel void @mixed.wavesan(
; CHECK:      call void @__wavesan_generic_access({{.*}}, ptr %p, i32 1025, i32 7)
; CHECK-NEXT: load i32, ptr %p
; CHECK:      call void @__wavesan_global_access({{.*}}, ptr %q, i32 1025, i32 8)
; CHECK-NEXT: load i32, ptr %q
; SITES: site 0: access write size 4 'store' of tile
; SITES: site 4: access write size 4 'store' of host
; SITES: site 5: access write size 4 'store' of g
; SITES: site 6: access read size 4 'load'{{$}}
@other = internal addrspace(3) global i32 poison, align 4
define amdgpu_kernel void @either(i1 %c) #0 {
  %p = select i1 %c, ptr addrspace(3) @tile, ptr addrspace(3) @other
  %v = load i32, ptr addrspace(3) %p
  ret void
}

define amdgpu_kernel void @mixed(i1 %c, ptr %host, ptr addrspace(4) %constant) #0 {
  %private = alloca [4 x i32], addrspace(5)
  call void asm sideeffect "", "r,~{memory}"(ptr addrspace(5) %private)
  %flat = addrspacecast ptr addrspace(5) %private to ptr
  %p = select i1 %c, ptr %flat, ptr %host
  %v = load i32, ptr %p
  %flat.constant = addrspacecast ptr addrspace(4) %constant to ptr
  %q = select i1 %c, ptr %host, ptr %flat.constant
  %w = load i32, ptr %q
  ret void
}
attributes #0 = { "target-cpu"="gfx90a" }
