; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; The twin keeps what stays true and loses what the hooks would make false.
; RUN: %opt -passes=wavesan-instrument,verify -S %s | FileCheck %s
target triple = "amdgcn-amd-amdhsa"

$in_comdat = comdat any

; CHECK: $in_comdat.wavesan = comdat any
; CHECK: define protected amdgpu_kernel void @k.wavesan(ptr addrspace(1) noundef readonly %a, ptr addrspace(1) %wavesan.ctx) local_unnamed_addr [[T:#[0-9]+]]
; CHECK-SAME: !kernel_arg_addr_space [[AS:![0-9]+]]
; CHECK-SAME: !kernel_arg_type [[TY:![0-9]+]]
; CHECK-SAME: !kernel_arg_name [[NAME:![0-9]+]]
define protected amdgpu_kernel void @k(ptr addrspace(1) noundef readonly %a) local_unnamed_addr #0 !kernel_arg_addr_space !0 !kernel_arg_type !1 {
  ret void
}
; CHECK: define weak_odr protected amdgpu_kernel void @in_comdat.wavesan({{.*}} comdat !kernel_arg_name
define weak_odr protected amdgpu_kernel void @in_comdat() #0 comdat {
  ret void
}
attributes #0 = { noinline optnone nosync willreturn norecurse memory(none) "target-cpu"="gfx90a" "amdgpu-flat-work-group-size"="1,256" "amdgpu-lds-size"="16" "amdgpu-no-workgroup-id-y" "amdgpu-no-workitem-id-z" "amdgpu-no-cluster-id-x" "amdgpu-no-flat-scratch-init" "amdgpu-no-hostcall-ptr" "amdgpu-no-implicitarg-ptr" "uniform-work-group-size"="true" }
!0 = !{i32 1}
!1 = !{!"float*"}
; CHECK: attributes [[T]] = { "amdgpu-flat-work-group-size"="1,256" "amdgpu-no-hostcall-ptr" "amdgpu-no-implicitarg-ptr" "target-cpu"="gfx90a" "uniform-work-group-size"="true" "wavesan-checks-all" }
; CHECK-DAG: [[AS]] = !{i32 1, i32 1}
; CHECK-DAG: [[TY]] = !{!"float*", !"void*"}
; CHECK-DAG: [[NAME]] = !{!"a", !"wavesan.ctx"}
