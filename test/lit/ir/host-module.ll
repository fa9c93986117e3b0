; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Host modules and device modules without kernels pass through unchanged.
; RUN: split-file %s %t
; RUN: opt -S %t/host.ll -o %t/host.before
; RUN: %opt -passes=wavesan -S %t/host.ll -o %t/host.after
; RUN: diff %t/host.before %t/host.after
; RUN: opt -S %t/device.ll -o %t/device.before
; RUN: %opt -passes=wavesan -S %t/device.ll -o %t/device.after
; RUN: diff %t/device.before %t/device.after

;--- host.ll
target triple = "x86_64-pc-linux-gnu"
define void @f(ptr %p) {
  store i32 1, ptr %p
  ret void
}
;--- device.ll
target triple = "amdgcn-amd-amdhsa"
define void @f(ptr addrspace(3) %p) {
  store i32 1, ptr addrspace(3) %p
  ret void
}
