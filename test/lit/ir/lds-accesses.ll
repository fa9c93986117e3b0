; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Every kind of LDS access gets its hook immediately before it, with kind and size, and the originals stay as they are.
; info = AccessBits | size << 8: read 1, write 2, atomic 4.
; RUN: %opt -passes=wavesan-instrument,verify -wavesan-keep-covered -S %s | FileCheck %s
target triple = "amdgcn-amd-amdhsa"

@tile = internal addrspace(3) global [64 x i32] poison, align 16
@flags = internal addrspace(3) global i8 poison, align 1

; CHECK-DAG: @tile = internal addrspace(3) global [64 x i32] poison
; CHECK-DAG: @tile.wavesan = internal addrspace(3) global [64 x i32] poison
; CHECK-DAG: @flags.wavesan = internal addrspace(3) global i8 poison

; CHECK-LABEL: define protected amdgpu_kernel void @scalars(
; CHECK-NOT: wavesan
; CHECK: ret void
define protected amdgpu_kernel void @scalars(i32 %i) #0 {
  %p = getelementptr [64 x i32], ptr addrspace(3) @tile, i32 0, i32 %i
  store i32 1, ptr addrspace(3) %p, align 4
  %b = load i8, ptr addrspace(3) @flags, align 1
  %h = load i16, ptr addrspace(3) %p, align 2
  %d = load double, ptr addrspace(3) %p, align 8
  %v3 = load <3 x i32>, ptr addrspace(3) %p, align 16
  %v4 = load <4 x float>, ptr addrspace(3) %p, align 16
  %v = load volatile i32, ptr addrspace(3) %p, align 4
  %bit = load i1, ptr addrspace(3) @flags, align 1
  ret void
}
; CHECK-LABEL: define protected amdgpu_kernel void @atomics(
; CHECK-NOT: wavesan
; CHECK: ret void
define protected amdgpu_kernel void @atomics() #0 {
  %a = atomicrmw add ptr addrspace(3) @tile, i32 1 syncscope("workgroup") monotonic
  %c = cmpxchg ptr addrspace(3) @tile, i64 0, i64 1 syncscope("agent") acq_rel monotonic, align 8
  %l = load atomic i32, ptr addrspace(3) @tile syncscope("workgroup") acquire, align 4
  store atomic i32 1, ptr addrspace(3) @tile syncscope("workgroup") release, align 4
  %s = atomicrmw add ptr addrspace(3) @tile, i32 1 syncscope("wavefront-one-as") seq_cst
  %f = atomicrmw fadd ptr addrspace(3) @tile, float 1.0 monotonic
  ret void
}
define protected amdgpu_kernel void @ranges(ptr addrspace(1) %g, i32 %n) #0 {
  call void @llvm.memcpy.p3.p1.i32(ptr addrspace(3) align 4 @tile, ptr addrspace(1) align 4 %g, i32 %n, i1 false)
  call void @llvm.memcpy.p1.p3.i64(ptr addrspace(1) align 4 %g, ptr addrspace(3) align 8 @tile, i64 8, i1 false)
  call void @llvm.memmove.p3.p3.i64(ptr addrspace(3) align 4 @tile, ptr addrspace(3) align 4 @tile, i64 64, i1 false)
  call void @llvm.memset.p3.i64(ptr addrspace(3) align 4 @tile, i8 0, i64 0, i1 false)
  call void @llvm.memset.p3.i64(ptr addrspace(3) align 4 @tile, i8 0, i64 100, i1 false)
  ret void
}
define protected amdgpu_kernel void @aggregates() #0 {
  ; i8, three bytes of padding, i32, i32: the padding is not accessed.
  %s = load { i8, i32, i32 }, ptr addrspace(3) @tile, align 4
  store [3 x i64] zeroinitializer, ptr addrspace(3) @tile, align 8
  ret void
}

; CHECK-LABEL: define protected amdgpu_kernel void @scalars.wavesan(i32 %i, ptr addrspace(1) %wavesan.ctx)
; CHECK-NEXT: %wavesan.state = alloca [64 x i8], align 8, addrspace(5)
; CHECK-NEXT: call void @__wavesan_kernel_begin(ptr addrspace(5) %wavesan.state, ptr addrspace(1) %wavesan.ctx)
; CHECK:      %p = getelementptr [64 x i32], ptr addrspace(3) @tile.wavesan
; CHECK-NEXT: [[A:%[0-9]+]] = ptrtoint ptr addrspace(3) %p to i32
; CHECK-NEXT: call void @__wavesan_lds_access(ptr addrspace(5) %wavesan.state, i32 [[A]], i32 1026, i32 0, i32 ptrtoint (ptr addrspace(3) @tile.wavesan to i32))
; CHECK-NEXT: store i32 1
; CHECK-NEXT: call void @__wavesan_lds_access(ptr addrspace(5) %wavesan.state, i32 ptrtoint (ptr addrspace(3) @flags.wavesan to i32), i32 257, i32 1, i32 ptrtoint (ptr addrspace(3) @flags.wavesan to i32))
; CHECK-NEXT: load i8
; CHECK:      i32 513, i32 2,
; CHECK-NEXT: load i16
; CHECK:      i32 2049, i32 3,
; CHECK-NEXT: load double
; CHECK:      i32 3073, i32 4,
; CHECK-NEXT: load <3 x i32>
; CHECK:      i32 4097, i32 5,
; CHECK-NEXT: load <4 x float>
; CHECK:      i32 1025, i32 6,
; CHECK-NEXT: load volatile i32
; CHECK:      i32 257, i32 7,
; CHECK-NEXT: load i1
; CHECK-NEXT: call void @__wavesan_kernel_end(ptr addrspace(5) %wavesan.state)
; CHECK-NEXT: ret void

; Atomics: [release half] [access hook] atomic [done hook] [acquire half]. info of atomics has the scope at bit 24, acquire
; (bit 27) and release (bit 28) too. fence info = bits | scope << 8: acquire 1, release 2, LDS 4, global 8, seq_cst 16,
; implied by an atomic 32; scopes wavefront 1, workgroup 2, agent 4, system 5. A one-as scope orders its own address space
; only. cmpxchg acq_rel monotonic: bit 23, it may fail; bit 29, a failure acquires nothing. An atomic of a scope below workgroup stays one: the hooks
; decide by the scope.
; CHECK-LABEL: define protected amdgpu_kernel void @atomics.wavesan(
; CHECK:      call void @__wavesan_lds_access({{.*}}, i32 33555463, i32 8,
; CHECK-NEXT: atomicrmw add
; CHECK-NEXT: call void @__wavesan_atomic_done(ptr addrspace(5) %wavesan.state, ptr addrspacecast (ptr addrspace(3) @tile.wavesan to ptr), i32 33555463, i32 8, i1 true)
; CHECK-NEXT: call void @__wavesan_fence({{.*}}, i32 1070)
; CHECK-NEXT: call void @__wavesan_lds_access({{.*}}, i32 1015023623, i32 9,
; CHECK-NEXT: %c = cmpxchg
; CHECK-NEXT: [[OK:%[0-9]+]] = extractvalue { i64, i1 } %c, 1
; CHECK-NEXT: call void @__wavesan_atomic_done({{.*}}, i32 1015023623, i32 9, i1 [[OK]])
; CHECK-NEXT: call void @__wavesan_fence({{.*}}, i32 1069)
; CHECK-NEXT: call void @__wavesan_lds_access({{.*}}, i32 167773189, i32 10,
; CHECK-NEXT: load atomic
; CHECK-NEXT: call void @__wavesan_atomic_done({{.*}}, i32 167773189, i32 10, i1 false)
; CHECK-NEXT: call void @__wavesan_fence({{.*}}, i32 557)
; CHECK-NEXT: call void @__wavesan_fence({{.*}}, i32 558)
; CHECK-NEXT: call void @__wavesan_lds_access({{.*}}, i32 301990918, i32 11,
; CHECK-NEXT: store atomic
; CHECK-NEXT: call void @__wavesan_atomic_done({{.*}}, i32 301990918, i32 11, i1 true)
; CHECK-NEXT: call void @__wavesan_fence({{.*}}, i32 310)
; CHECK-NEXT: call void @__wavesan_lds_access({{.*}}, i32 419431431, i32 12,
; CHECK-NEXT: atomicrmw add
; CHECK-NEXT: call void @__wavesan_atomic_done({{.*}}, i32 419431431, i32 12, i1 true)
; CHECK-NEXT: call void @__wavesan_fence({{.*}}, i32 309)
; CHECK-NEXT: call void @__wavesan_lds_access({{.*}}, i32 83887111, i32 13,
; CHECK-NEXT: atomicrmw fadd
; CHECK-NEXT: call void @__wavesan_atomic_done({{.*}}, i32 83887111, i32 13, i1 true)
; CHECK-NEXT: call void @__wavesan_kernel_end

; Unknown or wide extents are ranges; a length of 0 is nothing.
; CHECK-LABEL: define protected amdgpu_kernel void @ranges.wavesan(
; CHECK:      call void @__wavesan_global_range({{.*}}, i32 1, i32 14)
; CHECK-NEXT: [[N:%[0-9]+]] = zext i32 %n to i64
; CHECK-NEXT: call void @__wavesan_lds_range({{.*}}, i32 ptrtoint (ptr addrspace(3) @tile.wavesan to i32), i64 [[N]], i32 2, i32 15, i32 ptrtoint (ptr addrspace(3) @tile.wavesan to i32))
; CHECK-NEXT: call void @llvm.memcpy.p3.p1.i32
; CHECK-NEXT: call void @__wavesan_lds_access({{.*}}, i32 2049, i32 16,
; CHECK:      call void @__wavesan_global_access({{.*}}, i32 2050, i32 17)
; CHECK-NEXT: call void @llvm.memcpy.p1.p3.i64
; CHECK-NEXT: call void @__wavesan_lds_range({{.*}}, i64 64, i32 1, i32 18,
; CHECK-NEXT: call void @__wavesan_lds_range({{.*}}, i64 64, i32 2, i32 19,
; CHECK-NEXT: call void @llvm.memmove
; CHECK-NEXT: call void @llvm.memset
; CHECK-NEXT: call void @__wavesan_lds_range({{.*}}, i64 100, i32 2, i32 20,
; CHECK-NEXT: call void @llvm.memset

; CHECK-LABEL: define protected amdgpu_kernel void @aggregates.wavesan(
; CHECK:      call void @__wavesan_lds_access({{.*}}, i32 ptrtoint (ptr addrspace(3) @tile.wavesan to i32), i32 257, i32 21,
; CHECK-NEXT: call void @__wavesan_lds_access({{.*}}, i32 add (i32 ptrtoint (ptr addrspace(3) @tile.wavesan to i32), i32 4), i32 2049, i32 21,
; CHECK-NEXT: load { i8, i32, i32 }
; CHECK-NEXT: call void @__wavesan_lds_range({{.*}}, i64 24, i32 2, i32 22,
; CHECK-NEXT: store [3 x i64]

; CHECK: !wavesan.twins = !{![[S:[0-9]+]], ![[T:[0-9]+]], !{{[0-9]+}}, !{{[0-9]+}}}
; CHECK: ![[S]] = !{ptr @scalars, ptr @scalars.wavesan}
; CHECK: ![[T]] = !{ptr @atomics, ptr @atomics.wavesan}

attributes #0 = { "target-cpu"="gfx90a" }
