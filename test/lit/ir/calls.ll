; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Callees are inlined into twins whatever their attributes; recursive ones get clones with the wave's state.
; RUN: %opt -passes=wavesan-instrument,verify -S %s | FileCheck %s
; RUN: %opt -passes=wavesan,verify -S %s | FileCheck --check-prefix=LINKED %s
; RUN: %opt -passes=wavesan %s -o %t.bc
; RUN: llc -filetype=obj %t.bc -o %t.o
; RUN: wavesan-site-dump %t.o | FileCheck --check-prefix=SITES %s
target triple = "amdgcn-amd-amdhsa"

@tile = internal addrspace(3) global [64 x i32] poison, align 16

; LINKED-NOT: {{(declare|define|call).*}}@__wavesan_{{[a-bd-fh-z]|check_|c[^h]|global_(access|range)}}

; The original callee stays and the twin holds its body.
; CHECK-LABEL: define internal void @leaf(
; CHECK-NEXT:  store i32 %v, ptr addrspace(3) @tile, align 4
; CHECK-NEXT:  ret void
define internal void @leaf(i32 %v) noinline optnone #0 {
  store i32 %v, ptr addrspace(3) @tile, align 4
  ret void
}
define internal void @middle(i32 %v) noinline #0 {
  call void @leaf(i32 %v)
  ret void
}
; CHECK-LABEL: define amdgpu_kernel void @inlines(
; CHECK-NEXT:  call void @middle(i32 %v)
; CHECK-NEXT:  ret void
define amdgpu_kernel void @inlines(i32 %v) #0 {
  call void @middle(i32 %v)
  ret void
}

; CHECK-LABEL: define internal void @odd(i32 %n) #
; CHECK:       call void @even(i32 %m)
define internal void @odd(i32 %n) #0 {
  %m = sub i32 %n, 1
  store i32 %n, ptr addrspace(3) @tile, align 4
  call void @even(i32 %m)
  ret void
}
define internal void @even(i32 %n) #0 {
  %end = icmp eq i32 %n, 0
  br i1 %end, label %out, label %more
more:
  call void @leaf(i32 %n)
  call void @odd(i32 %n)
  br label %out
out:
  ret void
}
define amdgpu_kernel void @recurses(i32 %n) #0 {
  call void @even(i32 %n)
  ret void
}
define amdgpu_kernel void @indirect(ptr addrspace(4) %table) #0 {
  %f = load ptr, ptr addrspace(4) %table
  call void %f()
  ret void
}

; CHECK-LABEL: define amdgpu_kernel void @inlines.wavesan(i32 %v, ptr addrspace(1) %wavesan.ctx)
; CHECK-NOT:   call void @{{leaf|middle}}
; CHECK:       call void @__wavesan_lds_access(
; CHECK-NEXT:  store i32 %v, ptr addrspace(3) @tile.wavesan, align 4
; CHECK:       ret void

; LDS variables reach recursive clones as arguments, so that no kernel number and no table of addresses is needed.
; CHECK-LABEL: define amdgpu_kernel void @recurses.wavesan(i32 %n, ptr addrspace(1) %wavesan.ctx)
; CHECK:       call void @even.wavesan(i32 %n, ptr addrspace(5) %wavesan.state, ptr addrspace(3) @tile.wavesan)
; CHECK-LABEL: define internal void @even.wavesan(i32 %n, ptr addrspace(5) %0, ptr addrspace(3) %1)
; CHECK-NOT:   call void @leaf
; CHECK:       [[A:%[0-9]+]] = ptrtoint ptr addrspace(3) %1 to i32
; CHECK-NEXT:  [[V:%[0-9]+]] = ptrtoint ptr addrspace(3) %1 to i32
; CHECK:       call void @__wavesan_lds_access(ptr addrspace(5) %0, i32 [[A]], i32 1026, i32 {{[0-9]+}}, i32 [[V]])
; CHECK:       call void @odd.wavesan(i32 %n, ptr addrspace(5) %0, ptr addrspace(3) %1)
; CHECK-NOT:   kernel_end
; CHECK-LABEL: define internal void @odd.wavesan(i32 %n, ptr addrspace(5) %0, ptr addrspace(3) %1)
; CHECK:       store i32 %n, ptr addrspace(3) %1
; CHECK:       call void @even.wavesan(i32 %m, ptr addrspace(5) %0, ptr addrspace(3) %1)

; A kernel's entry counts the clones that it reaches.
; SITES: kernel inlines twin inlines.wavesan granule 2 sites 1
; SITES: kernel recurses twin recurses.wavesan granule 2 sites 2
; SITES: kernel indirect twin indirect.wavesan granule 2 sites 0
; SITES: skip 1: indirect call
; SITES: site 0: access write size 4 'store' of tile
; SITES-NEXT: site 1: access write size 4 'store' of tile
; SITES-NEXT: site 2: access write size 4 'store' of tile

attributes #0 = { "target-cpu"="gfx90a" }
