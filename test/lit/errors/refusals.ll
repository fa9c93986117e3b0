; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Whatever keeps a kernel from being instrumented is one clear error, and the compiler fails.
; RUN: split-file %s %t
; RUN: not %opt -passes=wavesan -S %t/rdc.ll 2>&1 | FileCheck --check-prefix=RDC %s
; RUN: not %opt -passes=wavesan,wavesan -S %t/fine.ll 2>&1 | FileCheck --check-prefix=TWICE %s
; RUN: not %opt -passes=wavesan-instrument,wavesan -S %t/fine.ll 2>&1 | FileCheck --check-prefix=TWICE %s
; RUN: not %opt -passes=wavesan -S %t/nocpu.ll 2>&1 | FileCheck --check-prefix=NOCPU %s
; RUN: not %opt -passes=wavesan -S %t/unknown.ll 2>&1 | FileCheck --check-prefix=UNKNOWN %s
; RUN: not %opt -passes=wavesan -S %t/old.ll 2>&1 | FileCheck --check-prefix=OLD %s
; RUN: not %opt -passes=wavesan -S %t/nvptx.ll 2>&1 | FileCheck --check-prefix=NVPTX %s
; RUN: not %opt -passes=wavesan -S %t/spirv.ll 2>&1 | FileCheck --check-prefix=SPIRV %s
; RUN: not %opt -passes=wavesan -S %t/scope.ll 2>&1 | FileCheck --check-prefix=SCOPE %s
; RUN: not %opt -passes=wavesan -S %t/taken.ll 2>&1 | FileCheck --check-prefix=TAKEN %s
; RUN: %if llvm-20 %{ not %opt -passes='lto-pre-link<O2>' -S %t/fine.ll 2>&1 | FileCheck --check-prefix=LTO %s %}
; RUN: not %opt -passes='lto-pre-link<O2>' -S %t/lto.ll 2>&1 | FileCheck --check-prefix=LTO %s
; RUN: %opt -passes=wavesan,verify -disable-output %t/fine.ll

; RDC: error: wavesan: kernel 'k' calls 'elsewhere(int)', which this module does not define: relocatable device code (-fgpu-rdc) is not supported
; TWICE: error: wavesan: the module is instrumented already (is the plugin loaded twice?)
; NOCPU: error: wavesan: kernel 'k': no target processor
; UNKNOWN: error: wavesan: kernel 'k': unknown processor 'gfx9999'
; OLD: error: wavesan: kernel 'k': processor 'gfx803' is not supported
; NVPTX: error: wavesan: target 'nvptx64-nvidia-cuda' is not supported
; SPIRV: error: wavesan: target 'spirv64-amd-amdhsa' is not supported
; SCOPE: error: wavesan: kernel 'k': unknown synchronisation scope 'galaxy'
; TAKEN: error: wavesan: kernel 'k': 'k.wavesan' is already defined
; LTO: error: wavesan: link-time optimisation of device code

;--- lto.ll
; As clang marks it; LLVM 19 says nothing else about link-time optimisation.
target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @k() #0 {
  ret void
}
attributes #0 = { "target-cpu"="gfx90a" }
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"EnableSplitLTOUnit", i32 0}
;--- fine.ll
target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @k() #0 {
  ret void
}
attributes #0 = { "target-cpu"="gfx90a" }
;--- rdc.ll
target triple = "amdgcn-amd-amdhsa"
declare void @_Z9elsewherei(i32)
define internal void @f() {
  call void @_Z9elsewherei(i32 0)
  ret void
}
define amdgpu_kernel void @k() #0 {
  call void @f()
  ret void
}
attributes #0 = { "target-cpu"="gfx90a" }
;--- nocpu.ll
target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @k() {
  ret void
}
;--- unknown.ll
target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @k() #0 {
  ret void
}
attributes #0 = { "target-cpu"="gfx9999" }
;--- old.ll
target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @k() #0 {
  ret void
}
attributes #0 = { "target-cpu"="gfx803" }
;--- nvptx.ll
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k() {
  ret void
}
;--- spirv.ll
target triple = "spirv64-amd-amdhsa"
define spir_kernel void @k() {
  ret void
}
;--- scope.ll
target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @k() #0 {
  fence syncscope("galaxy") acquire
  ret void
}
attributes #0 = { "target-cpu"="gfx90a" }
;--- taken.ll
target triple = "amdgcn-amd-amdhsa"
define void @k.wavesan() {
  ret void
}
define amdgpu_kernel void @k() #0 {
  ret void
}
attributes #0 = { "target-cpu"="gfx90a" }
