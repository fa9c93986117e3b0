; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Copies out of LDS write global memory and are not noted; of those of tensors nothing is known, not even where. Nor are stores to constant memory, which older code
; generators refuse.
; REQUIRES: llvm-22
; RUN: %opt -passes=wavesan,verify %s -o %t.bc
; RUN: llc -filetype=obj %t.bc -o %t.o
; RUN: wavesan-site-dump --notes %t.o | FileCheck %s
target triple = "amdgcn-amd-amdhsa"

@tile = internal addrspace(3) global [64 x i32] poison, align 16

; CHECK-LABEL: kernel tensor_out
; CHECK-NEXT:  skip
; CHECK-NEXT:  stores anywhere
; CHECK:       does not note all writes
; CHECK-LABEL: kernel lanes_out
; CHECK:       does not note all writes
; CHECK-LABEL: kernel lanes_in
; CHECK:       notes its writes
; CHECK-LABEL: kernel to_constant
; CHECK:       does not note all writes
define amdgpu_kernel void @tensor_out(<4 x i32> inreg %d0, <8 x i32> inreg %d1, <4 x i32> inreg %d2, <4 x i32> inreg %d3) #0 {
  call void @llvm.amdgcn.tensor.store.from.lds(<4 x i32> %d0, <8 x i32> %d1, <4 x i32> %d2, <4 x i32> %d3, i32 0)
  ret void
}
define amdgpu_kernel void @lanes_out(ptr addrspace(1) %out) #0 {
  call void @llvm.amdgcn.global.store.async.from.lds.b32(ptr addrspace(1) %out, ptr addrspace(3) @tile, i32 0, i32 0)
  ret void
}
define amdgpu_kernel void @lanes_in(ptr addrspace(1) %in) #0 {
  call void @llvm.amdgcn.global.load.async.to.lds.b32(ptr addrspace(1) %in, ptr addrspace(3) @tile, i32 0, i32 0)
  ret void
}
define amdgpu_kernel void @to_constant(ptr addrspace(4) %out, i32 %v) #0 {
  store i32 %v, ptr addrspace(4) %out, align 4
  ret void
}

attributes #0 = { "target-cpu"="gfx1250" }
