; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Accesses through buffer resources are checked as global memory at the address that they come to, by the lanes in range.
; REQUIRES: llvm-22
; RUN: %opt -passes=wavesan-instrument,verify -S %s | FileCheck %s
; RUN: %opt -passes=wavesan %s -o %t.bc
; RUN: llc -mcpu=gfx90a -filetype=obj %t.bc -o %t.o
; RUN: wavesan-site-dump %t.o | FileCheck --check-prefix=SITES %s
target triple = "amdgcn-amd-amdhsa"

; One dword: 1 << 31 says that the hook stands for no instruction.
; CHECK-LABEL: define amdgpu_kernel void @store.wavesan(
; CHECK:      %[[WORDS:.*]] = bitcast i128 %{{.*}} to <4 x i32>
; CHECK:      %[[ADDRESS:.*]] = inttoptr i64 %{{.*}} to ptr
; CHECK-NEXT: br i1 %{{.*}}, label %[[YES:.*]], label %[[REST:.*]]
; CHECK:      [[YES]]:
; CHECK-NEXT: call void @__wavesan_global_access(ptr addrspace(5) %{{.*}}, ptr %[[ADDRESS]], i32 -2147482622, i32 0)
; CHECK-NEXT: br label %[[REST]]
; CHECK:      [[REST]]:
; CHECK-NEXT: call void @llvm.amdgcn.raw.ptr.buffer.store.i32
; SITES: kernel store twin store.wavesan granule 2 sites 1
; SITES-NOT: skip
define amdgpu_kernel void @store(ptr addrspace(8) %r, i32 %o) #0 {
  call void @llvm.amdgcn.raw.ptr.buffer.store.i32(i32 7, ptr addrspace(8) %r, i32 %o, i32 0, i32 0)
  ret void
}

; Several dwords: all of them, or those that are in range.
; CHECK-LABEL: define amdgpu_kernel void @wide.wavesan(
; CHECK:      call void @__wavesan_global_access({{.*}}, i32 -2147479551, i32 1)
; CHECK:      call void @__wavesan_global_range({{.*}}, i64 %{{.*}}, i32 -2147483647, i32 1)
; CHECK:      call <4 x i32> @llvm.amdgcn.struct.ptr.buffer.load.v4i32
; SITES: kernel wide twin wide.wavesan granule 2 sites 1
; SITES-NOT: skip
define amdgpu_kernel void @wide(ptr addrspace(8) %r, i32 %o, ptr addrspace(1) %out) #0 {
  %v = call <4 x i32> @llvm.amdgcn.struct.ptr.buffer.load.v4i32(ptr addrspace(8) %r, i32 %o, i32 0, i32 0, i32 0)
  ret void
}

; Atomics have the scope of the device (4 << 24); the compare-exchange has stored where it found what it compared with.
; CHECK-LABEL: define amdgpu_kernel void @atomics.wavesan(
; CHECK:      call void @__wavesan_global_access({{.*}}, i32 -2071985145, i32 2)
; CHECK:      %[[OLD:.*]] = call i32 @llvm.amdgcn.raw.ptr.buffer.atomic.cmpswap.i32
; CHECK-NEXT: %[[WROTE:.*]] = icmp eq i32 %[[OLD]], 5
; CHECK-NEXT: br i1
; CHECK:      call void @__wavesan_atomic_done({{.*}}, i32 -2071985145, i32 2, i1 %[[WROTE]])
; SITES: kernel atomics twin atomics.wavesan granule 2 sites 1
define amdgpu_kernel void @atomics(ptr addrspace(8) %r, i32 %o) #0 {
  %v = call i32 @llvm.amdgcn.raw.ptr.buffer.atomic.cmpswap.i32(i32 6, i32 5, ptr addrspace(8) %r, i32 %o, i32 0, i32 0)
  ret void
}

declare void @llvm.amdgcn.raw.ptr.buffer.store.i32(i32, ptr addrspace(8), i32, i32, i32)
declare <4 x i32> @llvm.amdgcn.struct.ptr.buffer.load.v4i32(ptr addrspace(8), i32, i32, i32, i32)
declare i32 @llvm.amdgcn.raw.ptr.buffer.atomic.cmpswap.i32(i32, i32, ptr addrspace(8), i32, i32, i32)
attributes #0 = { "target-cpu"="gfx90a" }

; A fat pointer is a resource and an offset.
; CHECK-LABEL: define amdgpu_kernel void @fat.wavesan(
; CHECK:      call void @__wavesan_global_access({{.*}}, i32 -2147482622, i32 3)
; CHECK:      call void @llvm.amdgcn.raw.ptr.buffer.store.i32(i32 %v, ptr addrspace(8)
; SITES: kernel fat twin fat.wavesan granule 2 sites 1
; SITES-NOT: skip
define amdgpu_kernel void @fat(ptr addrspace(1) %m, i32 %i, i32 %v) #0 {
  %b = call ptr addrspace(7) @llvm.amdgcn.make.buffer.rsrc.p7.p1(ptr addrspace(1) %m, i16 0, i64 1024, i32 159744)
  %p = getelementptr i32, ptr addrspace(7) %b, i32 %i
  store i32 %v, ptr addrspace(7) %p
  ret void
}
declare ptr addrspace(7) @llvm.amdgcn.make.buffer.rsrc.p7.p1(ptr addrspace(1), i16, i64, i32)
