; Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Kernels that may wait for the host while they run, for kernel replay.
; RUN: %opt -passes=wavesan,verify %s -o %t.bc
; RUN: llc -filetype=obj %t.bc -o %t.o
; RUN: wavesan-site-dump --stores %t.o | FileCheck %s
target triple = "amdgcn-amd-amdhsa"

@tile = internal addrspace(3) global i32 poison, align 4

; CHECK-LABEL: kernel polls_flag
; CHECK-NEXT:  may wait for the host
define amdgpu_kernel void @polls_flag(ptr addrspace(1) %flag) #0 {
entry:
  br label %again
again:
  %v = load atomic i32, ptr addrspace(1) %flag acquire, align 4
  %go = icmp ne i32 %v, 0
  br i1 %go, label %done, label %sleep
sleep:
  call void @llvm.amdgcn.s.sleep(i32 1)
  br label %again
done:
  ret void
}

; CHECK-LABEL: kernel polls_volatile
; CHECK-NEXT:  may wait for the host
define amdgpu_kernel void @polls_volatile(ptr %flag) #0 {
entry:
  br label %again
again:
  %v = load volatile i32, ptr %flag, align 4
  %go = icmp ne i32 %v, 0
  br i1 %go, label %done, label %again
done:
  ret void
}

; CHECK-LABEL: kernel takes_lock
; CHECK-NEXT:  stores through
; CHECK:       kernel exchanges
; CHECK:       may wait for the host
define amdgpu_kernel void @takes_lock(ptr addrspace(1) %lock) #0 {
entry:
  br label %again
again:
  %pair = cmpxchg ptr addrspace(1) %lock, i32 0, i32 1 syncscope("agent") acquire monotonic, align 4
  %go = extractvalue { i32, i1 } %pair, 1
  br i1 %go, label %done, label %again
done:
  ret void
}
define amdgpu_kernel void @exchanges(ptr addrspace(1) %lock, i32 %free) #0 {
entry:
  br label %again
again:
  %pair = cmpxchg ptr addrspace(1) %lock, i32 %free, i32 1 acquire monotonic, align 4
  %go = extractvalue { i32, i1 } %pair, 1
  br i1 %go, label %done, label %again
done:
  ret void
}

; CHECK-LABEL: kernel sets
; CHECK:       may wait for the host
define amdgpu_kernel void @sets(ptr addrspace(1) %lock) #0 {
entry:
  br label %again
again:
  %old = atomicrmw xchg ptr addrspace(1) %lock, i32 1 acquire, align 4
  %go = icmp eq i32 %old, 0
  br i1 %go, label %done, label %again
done:
  ret void
}

; Of no circle, of the device's scope, of LDS, or an update: nothing waits for the host there.
; CHECK-NOT: may wait for the host
define amdgpu_kernel void @once(ptr addrspace(1) %flag) #0 {
  %v = load atomic i32, ptr addrspace(1) %flag acquire, align 4
  %w = load volatile i32, ptr addrspace(1) %flag, align 4
  ret void
}
define amdgpu_kernel void @of_the_device(ptr addrspace(1) %flag) #0 {
entry:
  br label %again
again:
  %v = load atomic i32, ptr addrspace(1) %flag syncscope("agent") acquire, align 4
  %w = load volatile i32, ptr addrspace(3) @tile, align 4
  %x = or i32 %v, %w
  %go = icmp ne i32 %x, 0
  br i1 %go, label %done, label %again
done:
  ret void
}
define amdgpu_kernel void @updates(ptr addrspace(1) %sum, i32 %n) #0 {
entry:
  %first = load i32, ptr addrspace(1) %sum, align 4
  br label %again
again:
  %old = phi i32 [ %first, %entry ], [ %seen, %again ]
  %new = mul i32 %old, %n
  %pair = cmpxchg ptr addrspace(1) %sum, i32 %old, i32 %new monotonic monotonic, align 4
  %seen = extractvalue { i32, i1 } %pair, 0
  %go = extractvalue { i32, i1 } %pair, 1
  br i1 %go, label %counts, label %again
counts:
  %i = phi i32 [ 0, %again ], [ %j, %counts ]
  %before = atomicrmw add ptr addrspace(1) %sum, i32 1 monotonic, align 4
  %j = add i32 %i, 1
  %more = icmp ult i32 %j, %before
  br i1 %more, label %counts, label %done
done:
  ret void
}

declare void @llvm.amdgcn.s.sleep(i32)
attributes #0 = { "target-cpu"="gfx90a" }
