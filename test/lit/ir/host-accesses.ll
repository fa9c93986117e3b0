; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; The host's accesses: a look at one word, and a call while a command is under way. Off by default.
; RUN: %opt -passes=wavesan-host,verify -wavesan-check-host -S %s | FileCheck %s
; RUN: %opt -passes=wavesan-host,verify -S %s | FileCheck --check-prefix=OFF --implicit-check-not=__wavesan %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@table = constant [4 x i32] zeroinitializer
; CHECK: @__wavesan_host_idle = linkonce_odr hidden global i32 0, comdat
; CHECK: @__wavesan_host_watch = linkonce_odr hidden global { ptr, ptr } { ptr @__wavesan_host_idle, ptr null }, comdat
; CHECK: @llvm.global_ctors = appending global {{.*}} @__wavesan_host_start
; OFF: define i32 @reads

; CHECK-LABEL: define i32 @reads
; CHECK: [[WHERE:%.*]] = load ptr, ptr @__wavesan_host_watch
; CHECK: [[BUSY:%.*]] = load atomic i32, ptr [[WHERE]] monotonic, align 4
; CHECK: br i1 {{%.*}}, label {{%.*}}, label {{%.*}}, !prof
; CHECK: [[HOOK:%.*]] = load ptr, ptr getelementptr inbounds {{.*}}@__wavesan_host_watch
; CHECK: call void [[HOOK]](ptr %p, i64 4, i32 4325377), !dbg
; CHECK: load i32, ptr %p, align 4, !dbg
define i32 @reads(ptr %p) !dbg !4 {
  %v = load i32, ptr %p, align 4, !dbg !6
  ret i32 %v
}

; Writes are 2, atomics 4, acquire 0x100, release 0x200.
; CHECK-LABEL: define void @orders
; CHECK: call void {{%.*}}(ptr %p, i64 8, i32 2)
; CHECK: call void {{%.*}}(ptr %p, i64 4, i32 518)
; CHECK: call void {{%.*}}(ptr %p, i64 4, i32 261)
; CHECK: call void {{%.*}}(ptr %p, i64 4, i32 775)
; CHECK: call void {{%.*}}(ptr %p, i64 4, i32 7)
define void @orders(ptr %p) {
  store i64 0, ptr %p
  store atomic i32 1, ptr %p release, align 4
  %a = load atomic i32, ptr %p acquire, align 4
  %b = atomicrmw add ptr %p, i32 1 seq_cst
  %c = cmpxchg ptr %p, i32 0, i32 1 monotonic monotonic
  ret void
}

; CHECK-LABEL: define void @ranges
; CHECK: call void {{%.*}}(ptr %to, i64 %n, i32 2)
; CHECK: call void {{%.*}}(ptr %from, i64 %n, i32 1)
; CHECK: call void @llvm.memcpy
define void @ranges(ptr %to, ptr %from, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  ret void
}

; No command can use these.
; CHECK-LABEL: define i32 @own
; CHECK-NOT: __wavesan
; CHECK: ret i32
define i32 @own(i64 %i) {
  %x = alloca i32
  store i32 1, ptr %x
  %c = getelementptr [4 x i32], ptr @table, i64 0, i64 %i
  %v = load i32, ptr %c
  ret i32 %v
}

; The stack may be registered by whoever knows its address.
; CHECK-LABEL: define i32 @given_away(
; CHECK: call void {{.*}}(ptr %x, i64 4, i32
define i32 @given_away() {
  %x = alloca i32
  call void @registers(ptr %x)
  %v = load i32, ptr %x
  ret i32 %v
}
declare void @registers(ptr)

; CHECK-LABEL: define linkonce_odr hidden void @__wavesan_host_start() comdat
; CHECK: call ptr @dlsym(ptr null, ptr

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "a.hip", directory: ".")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !{null})
!4 = distinct !DISubprogram(name: "reads", file: !1, line: 1, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!6 = !DILocation(line: 2, column: 3, scope: !4)
