; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Global memory: its own hooks with the address as a flat pointer, named after the kernel argument or the device variable.
; RUN: %opt -passes=wavesan-instrument,verify -S %s | FileCheck %s
; RUN: %opt -passes=wavesan %s -o %t.bc
; RUN: llc -filetype=obj %t.bc -o %t.o
; RUN: wavesan-site-dump %t.o | FileCheck --check-prefix=SITES %s
target triple = "amdgcn-amd-amdhsa"

@counter = addrspace(1) global i32 0, align 4
@tile = internal addrspace(3) global [64 x i32] poison, align 16

; Sizes and alignments of global accesses do not make the cells of LDS finer.
; CHECK-LABEL: define amdgpu_kernel void @accesses.wavesan(
; CHECK:      [[G:%[0-9]+]] = addrspacecast ptr addrspace(1) %g to ptr
; CHECK-NEXT: call void @__wavesan_global_access(ptr addrspace(5) %wavesan.state, ptr [[G]], i32 257, i32 0)
; CHECK-NEXT: load i8
; CHECK:      call void @__wavesan_global_access({{.*}}, i32 4098, i32 1)
; CHECK-NEXT: store <4 x i32>
; CHECK:      call void @__wavesan_global_access({{.*}}, ptr [[S:%[0-9]+]], i32 257, i32 2)
; CHECK-NEXT: [[S4:%[0-9]+]] = getelementptr i8, ptr [[S]], i64 4
; CHECK-NEXT: call void @__wavesan_global_access({{.*}}, ptr [[S4]], i32 1025, i32 2)
; CHECK-NEXT: load { i8, i32 }
; CHECK:      call void @__wavesan_global_range({{.*}}, i64 64, i32 2, i32 3)
; CHECK-NEXT: store [16 x i32]
; CHECK-NEXT: load i32, {{.*}} !invariant.load
; CHECK:      call void @__wavesan_lds_access({{.*}}, i32 1026, i32 4,
; CHECK-NEXT: store i32 0, ptr addrspace(3) @tile.wavesan
; SITES: kernel accesses twin accesses.wavesan granule 2 sites 5
; SITES-NOT: skip
define amdgpu_kernel void @accesses(ptr addrspace(1) %g, ptr addrspace(1) noalias readonly %ro) #0 {
  %b = load i8, ptr addrspace(1) %g, align 1
  store <4 x i32> zeroinitializer, ptr addrspace(1) %g, align 4
  %s = load { i8, i32 }, ptr addrspace(1) %ro, align 4
  store [16 x i32] zeroinitializer, ptr addrspace(1) %g, align 4
  %i = load i32, ptr addrspace(1) %ro, align 4, !invariant.load !0
  store i32 0, ptr addrspace(3) @tile, align 4
  ret void
}

; The scope's bits: agent 4, system 5 at bit 24; acquire bit 27, release bit 28; a compare-exchange bit 23.
; CHECK-LABEL: define amdgpu_kernel void @atomics.wavesan(
; CHECK:      call void @__wavesan_global_access(ptr addrspace(5) %wavesan.state, ptr addrspacecast (ptr addrspace(1) @counter to ptr), i32 67109895, i32 5)
; CHECK-NEXT: atomicrmw add ptr addrspace(1) @counter, i32 1 syncscope("agent") monotonic
; CHECK-NEXT: call void @__wavesan_atomic_done(ptr addrspace(5) %wavesan.state, ptr addrspacecast (ptr addrspace(1) @counter to ptr), i32 67109895, i32 5, i1 true)
; CHECK-NEXT: call void @__wavesan_fence({{.*}}, i32 1082)
; CHECK-NEXT: call void @__wavesan_global_access({{.*}}, i32 469763079, i32 6)
; CHECK-NEXT: atomicrmw add {{.*}} syncscope("agent-one-as") seq_cst
; CHECK-NEXT: call void @__wavesan_atomic_done({{.*}}, i32 469763079, i32 6, i1 true)
; CHECK-NEXT: call void @__wavesan_fence({{.*}}, i32 1081)
; CHECK-NEXT: call void @__wavesan_generic_access({{.*}}, ptr %p, i32 226493447, i32 7)
; CHECK-NEXT: %x = cmpxchg
; CHECK-NEXT: [[OK:%[0-9]+]] = extractvalue { i32, i1 } %x, 1
; CHECK-NEXT: call void @__wavesan_atomic_done(ptr addrspace(5) %wavesan.state, ptr %p, i32 226493447, i32 7, i1 [[OK]])
; CHECK-NEXT: call void @__wavesan_fence({{.*}}, i32 1325)
; CHECK-NEXT: call void @__wavesan_generic_access({{.*}}, i32 83887109, i32 8)
; CHECK-NEXT: load atomic
; CHECK-NEXT: call void @__wavesan_atomic_done({{.*}}, i32 83887109, i32 8, i1 false)
; CHECK-NOT:  __wavesan_fence
; CHECK:      ret void
define amdgpu_kernel void @atomics(i64 %address) #0 {
  %p = inttoptr i64 %address to ptr
  %a = atomicrmw add ptr addrspace(1) @counter, i32 1 syncscope("agent") monotonic
  %b = atomicrmw add ptr addrspace(1) @counter, i32 1 syncscope("agent-one-as") seq_cst
  %x = cmpxchg ptr %p, i32 0, i32 1 monotonic acquire
  %l = load atomic i32, ptr %p unordered, align 4
  %private = alloca i32, addrspace(5)
  %n = atomicrmw add ptr addrspace(5) %private, i32 1 syncscope("agent") monotonic
  ret void
}

; The name from debug info wins; dispatch pointers and kernel arguments are constant memory and no sites; constants too.
; SITES: kernel named twin named.wavesan granule 2 sites 1
; SITES-NEXT: site 0: access read size 1 'load' of g
; SITES-NEXT: site 1: access write size 16 'store' of g
; SITES-NEXT: site 2: access read size 0 'load' of ro
; SITES-NEXT: site 3: range write size 0 'store' of g
; SITES-NEXT: site 4: access write size 4 'store' of tile
; SITES-NEXT: site 5: access read|write|atomic size 4 'atomicrmw add' of counter
; SITES:      site 7: access read|write|atomic size 4 'cmpxchg'{{$}}
; SITES:      site 9: access write size 4 'store' of out at
define amdgpu_kernel void @named(ptr addrspace(1) %out.coerce) #0 !dbg !5 {
    #dbg_value(ptr addrspace(1) %out.coerce, !8, !DIExpression(), !9)
  %d = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %v = load i32, ptr addrspace(4) %d, align 4, !dbg !9
  %q = getelementptr i32, ptr addrspace(1) %out.coerce, i32 %v
  store i32 %v, ptr addrspace(1) %q, align 4, !dbg !9
  ret void
}
attributes #0 = { "target-cpu"="gfx90a" }
!llvm.dbg.cu = !{!2}
!llvm.module.flags = !{!4}
!0 = !{}
!2 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !3, emissionKind: FullDebug)
!3 = !DIFile(filename: "a.hip", directory: "/src")
!4 = !{i32 2, !"Debug Info Version", i32 3}
!5 = distinct !DISubprogram(name: "named", file: !3, line: 1, type: !6, unit: !2, spFlags: DISPFlagDefinition)
!6 = !DISubroutineType(types: !7)
!7 = !{null}
!8 = !DILocalVariable(name: "out", arg: 1, scope: !5, file: !3, line: 1)
!9 = !DILocation(line: 2, column: 3, scope: !5)
