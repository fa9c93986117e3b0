; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; HIP before 6 crashes on kernels whose metadata asks for a default queue: with code object version 4 the plugin says that
; no kernel does, unless one enqueues.
; RUN: sed s/VERSION/400/ %s | %opt -passes=wavesan-instrument,verify -S | FileCheck %s --check-prefix=OLD
; RUN: sed s/VERSION/500/ %s | %opt -passes=wavesan-instrument,verify -S | FileCheck %s --check-prefix=NEW
; RUN: sed -e s/VERSION/400/ -e s/other_function/__enqueue_kernel_basic/ %s | %opt -passes=wavesan-instrument,verify -S | FileCheck %s --check-prefix=NEW
target triple = "amdgcn-amd-amdhsa"

define void @other_function() {
  ret void
}
define protected amdgpu_kernel void @k() #0 {
  ret void
}
attributes #0 = { noinline optnone "target-cpu"="gfx90a" }
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 VERSION}
; OLD: define protected amdgpu_kernel void @k() [[K:#[0-9]+]]
; OLD: attributes [[K]] = { {{.*}}"amdgpu-no-completion-action" "amdgpu-no-default-queue"
; NEW-NOT: amdgpu-no-default-queue
