; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; The branches that decide between barriers, and between a barrier and the end: one entry where only one can be it; by the barrier
; before where that decides; none where two branches may have decided.
; RUN: %opt -passes=wavesan,verify -S %s -o %t.ll
; RUN: llc -mcpu=gfx90a -filetype=obj %t.ll -o %t.o
; RUN: wavesan-site-dump %t.o | grep "^branch" | FileCheck --implicit-check-not=branch %s
target triple = "amdgcn-amd-amdhsa"

; CHECK: branch 10:3 depth 0 from anywhere to at arms (b.hip:11:1) or at arms (b.hip:12:1){{$}}
; CHECK-NEXT: branch 10:3 depth 0 from anywhere to at arms (b.hip:12:1) or at arms (b.hip:11:1){{$}}
define amdgpu_kernel void @arms(i1 %c) #0 !dbg !10 {
  br i1 %c, label %one, label %two, !dbg !11
one:
  call void @llvm.amdgcn.s.barrier(), !dbg !12
  br label %end
two:
  call void @llvm.amdgcn.s.barrier(), !dbg !13
  br label %end
end:
  ret void
}
; The first barrier cannot be missed by who comes from the beginning; behind it, line 21 decides between the second and the end.
; CHECK-NEXT: branch 21:3 depth 0 from anywhere to at exits (b.hip:22:1) or nowhere{{$}}
define amdgpu_kernel void @exits(i1 %c) #0 !dbg !20 {
  call void @llvm.amdgcn.s.barrier(), !dbg !21
  br i1 %c, label %one, label %end, !dbg !22
one:
  call void @llvm.amdgcn.s.barrier(), !dbg !23
  br label %end
end:
  ret void
}
; Two branches may lead past the barrier.
define amdgpu_kernel void @two(i1 %c, i1 %d) #0 !dbg !30 {
  br i1 %c, label %next, label %end, !dbg !31
next:
  br i1 %d, label %one, label %end, !dbg !32
one:
  call void @llvm.amdgcn.s.barrier(), !dbg !33
  br label %end
end:
  ret void
}
; Into the loop one branch decides, inside it another one.
; CHECK-NEXT: branch 42:3 depth 0 from at loop (b.hip:41:1) to at loop (b.hip:41:1) or nowhere{{$}}
; CHECK-NEXT: branch 40:3 depth 0 from nowhere to at loop (b.hip:41:1) or nowhere{{$}}
define amdgpu_kernel void @loop(i1 %c, i1 %d) #0 !dbg !40 {
  br i1 %c, label %body, label %end, !dbg !41
body:
  call void @llvm.amdgcn.s.barrier(), !dbg !42
  br i1 %d, label %body, label %end, !dbg !43
end:
  ret void
}
attributes #0 = { "target-cpu"="gfx90a" }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "b.hip", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!10 = distinct !DISubprogram(name: "arms", file: !1, unit: !0, spFlags: DISPFlagDefinition)
!11 = !DILocation(line: 10, column: 3, scope: !10)
!12 = !DILocation(line: 11, column: 1, scope: !10)
!13 = !DILocation(line: 12, column: 1, scope: !10)
!20 = distinct !DISubprogram(name: "exits", file: !1, unit: !0, spFlags: DISPFlagDefinition)
!21 = !DILocation(line: 20, column: 1, scope: !20)
!22 = !DILocation(line: 21, column: 3, scope: !20)
!23 = !DILocation(line: 22, column: 1, scope: !20)
!30 = distinct !DISubprogram(name: "two", file: !1, unit: !0, spFlags: DISPFlagDefinition)
!31 = !DILocation(line: 30, column: 3, scope: !30)
!32 = !DILocation(line: 31, column: 3, scope: !30)
!33 = !DILocation(line: 32, column: 1, scope: !30)
!40 = distinct !DISubprogram(name: "loop", file: !1, unit: !0, spFlags: DISPFlagDefinition)
!41 = !DILocation(line: 40, column: 3, scope: !40)
!42 = !DILocation(line: 41, column: 1, scope: !40)
!43 = !DILocation(line: 42, column: 3, scope: !40)
