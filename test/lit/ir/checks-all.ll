; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Twins without an unchecked access say so: the CPU agent may execute their workgroups on several threads.
; RUN: %opt -passes=wavesan-instrument,verify -S %s | FileCheck %s
; RUN: %opt -passes=wavesan-instrument,verify -S %s | grep -c wavesan-checks-all | grep -x 1
target triple = "amdgcn-amd-amdhsa"

; CHECK: define amdgpu_kernel void @all.wavesan({{.*}}) [[ALL:#[0-9]+]]
define amdgpu_kernel void @all(ptr addrspace(1) %p, ptr addrspace(4) %c) #0 {
  %a = load i32, ptr addrspace(1) %p
  %covered = load i32, ptr addrspace(1) %p
  %constant = load i32, ptr addrspace(4) %c
  %sum = add i32 %a, %covered
  %more = add i32 %sum, %constant
  store i32 %more, ptr addrspace(1) %p
  ret void
}

; CHECK: define amdgpu_kernel void @unknown.wavesan({{.*}}) [[NOT:#[0-9]+]]
define amdgpu_kernel void @unknown(ptr addrspace(1) %p) #0 {
  call void asm sideeffect "global_frobnicate $0", "v"(ptr addrspace(1) %p)
  ret void
}

; CHECK: define amdgpu_kernel void @ignored.wavesan({{.*}}) [[IGNORED:#[0-9]+]]
define amdgpu_kernel void @ignored(ptr addrspace(1) %p) #1 {
  store i32 1, ptr addrspace(1) %p
  ret void
}

; CHECK: define amdgpu_kernel void @reaches.wavesan({{.*}}) [[NOT]]
define amdgpu_kernel void @reaches(ptr addrspace(1) %p) #0 {
  call void @again(ptr addrspace(1) %p, i32 3)
  ret void
}
define internal void @again(ptr addrspace(1) %p, i32 %n) #0 {
  %last = icmp eq i32 %n, 0
  br i1 %last, label %end, label %more
more:
  call void asm sideeffect "global_frobnicate $0", "v"(ptr addrspace(1) %p)
  %next = sub i32 %n, 1
  call void @again(ptr addrspace(1) %p, i32 %next)
  br label %end
end:
  ret void
}

; CHECK: attributes [[ALL]] = { {{.*}}"wavesan-checks-all"
attributes #0 = { nounwind "target-cpu"="gfx90a" }
attributes #1 = { nounwind disable_sanitizer_instrumentation "target-cpu"="gfx90a" }
