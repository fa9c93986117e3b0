; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Which sites are known to store the same bytes in every execution: constants, in one byte where all are alike, and only where
; their wave writes nothing else to the place before its next whole barrier.
; RUN: %opt -passes=wavesan,verify -S %s -o %t.ll
; RUN: llc -mcpu=gfx90a -filetype=obj %t.ll -o %t.o
; RUN: wavesan-site-dump %t.o | grep "write.* size" | FileCheck %s
target triple = "amdgcn-amd-amdhsa"
@a = internal addrspace(3) global [64 x i32] poison, align 16
@b = internal addrspace(3) global [64 x i32] poison, align 16

; CHECK: site {{[0-9]+}}: access write size 4 'store' of a stores 01000000{{$}}
; CHECK-NEXT: site {{[0-9]+}}: access write size 4 'store' of b stores 00{{$}}
; CHECK-NEXT: site {{[0-9]+}}: access write size 8 'store' of g stores ff{{$}}
; CHECK-NEXT: site {{[0-9]+}}: access write size 4 'store' of f stores 0000803f{{$}}
define amdgpu_kernel void @constants(ptr addrspace(1) noalias %g, ptr addrspace(1) noalias %f) #0 {
  store i32 1, ptr addrspace(3) @a, align 4
  store i32 0, ptr addrspace(3) @b, align 4
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  store i64 -1, ptr addrspace(1) %g, align 1
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  store float 1.0, ptr addrspace(1) %f, align 4
  ret void
}
; An address that need not be a multiple, bits that are not known, an atomic, a value that is none.
; CHECK-NEXT: site {{[0-9]+}}: access write size 4 'store' of a{{$}}
; CHECK-NEXT: site {{[0-9]+}}: access write size 8 'store' of a{{$}}
; CHECK-NEXT: site {{[0-9]+}}: access write|atomic size 4 '{{.*}}' of a{{$}}
; CHECK-NEXT: site {{[0-9]+}}: access write size 4 'store' of a{{$}}
define amdgpu_kernel void @unknown(i32 %i) #0 {
  store i32 1, ptr addrspace(3) @a, align 2
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  store <2 x i32> <i32 1, i32 poison>, ptr addrspace(3) @a, align 8
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  store atomic i32 1, ptr addrspace(3) @a syncscope("workgroup") monotonic, align 4
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  store i32 %i, ptr addrspace(3) @a, align 4
  ret void
}
; Other values to the same variable: behind a barrier with a fence they do not matter, else they do.
; CHECK-NEXT: site {{.*}} of a stores 01000000{{$}}
; CHECK-NEXT: site {{[0-9]+}}: access write size 4 'store' of a{{$}}
; CHECK-NEXT: site {{[0-9]+}}: access write size 4 'store' of a{{$}}
; CHECK-NEXT: site {{[0-9]+}}: access write size 4 'store' of a{{$}}
define amdgpu_kernel void @others(i1 %c) #0 {
  store i32 1, ptr addrspace(3) @a, align 4
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  br i1 %c, label %one, label %two
one:
  store i32 2, ptr addrspace(3) @a, align 4
  br label %join
two:
  store i32 3, ptr addrspace(3) @a, align 4
  br label %join
join:
  call void @llvm.amdgcn.s.barrier() ; without a fence
  store i32 4, ptr addrspace(3) @a, align 4
  ret void
}
; A barrier in one arm only parts nothing.
; CHECK-NEXT: site {{[0-9]+}}: access write size 4 'store' of a{{$}}
; CHECK-NEXT: site {{[0-9]+}}: access write size 4 'store' of a{{$}}
define amdgpu_kernel void @arm(i1 %c) #0 {
  br i1 %c, label %one, label %join
one:
  store i32 1, ptr addrspace(3) @a, align 4
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  br label %join
join:
  store i32 2, ptr addrspace(3) @a, align 4
  ret void
}
; Round a loop with one barrier the second write meets the first.
; CHECK-NEXT: site {{[0-9]+}}: access write size 4 'store' of a{{$}}
; CHECK-NEXT: site {{[0-9]+}}: access write size 4 'store' of a{{$}}
define amdgpu_kernel void @loop(i32 %n) #0 {
entry:
  br label %body
body:
  %i = phi i32 [ 0, %entry ], [ %k, %body ]
  store i32 1, ptr addrspace(3) @a, align 4
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  store i32 2, ptr addrspace(3) @a, align 4
  %k = add i32 %i, 1
  %more = icmp ult i32 %k, %n
  br i1 %more, label %body, label %end
end:
  ret void
}
; Memory that a call may write, and a memset of one byte.
; CHECK-NEXT: site {{[0-9]+}}: range write size 0 'memset' of a stores 05{{$}}
; CHECK-NEXT: site {{[0-9]+}}: access write size 4 'store' of b{{$}}
define amdgpu_kernel void @calls(ptr %f, i32 %n) #0 {
  call void @llvm.memset.p3.i32(ptr addrspace(3) @a, i8 5, i32 %n, i1 false)
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  store i32 1, ptr addrspace(3) @b, align 4
  call void %f()
  ret void
}
attributes #0 = { "target-cpu"="gfx90a" }
