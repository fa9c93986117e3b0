// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ignored accesses are counted, not checked; atomics, barriers and everything else stay. Left-out kernels have an entry and
// no twin. All through options of the plugin and one attribute, in the same code at -O2 (inlined) and -O0 (called).
// RUN: split-file %s %t
// DEFINE: %{cc} = %clang_hip --offload-arch=gfx90a -gline-tables-only -fplugin=%plugin -fpass-plugin=%plugin -I%S/../../../runtime/include
// RUN: %{cc} -O2 -c %t/code.cpp -o %t.plain.co
// RUN: wavesan-site-dump %t.plain.co | FileCheck --check-prefix=ATTRIBUTE %t/code.cpp
// RUN: %{cc} -O0 -c %t/code.cpp -o %t.o0.co
// RUN: wavesan-site-dump %t.o0.co | FileCheck --check-prefix=ATTRIBUTE %t/code.cpp
// RUN: %{cc} -O2 -Xclang -mllvm -Xclang -wavesan-ignorelist=%t/functions.txt -c %t/code.cpp -o %t.fun.co
// RUN: wavesan-site-dump %t.fun.co | FileCheck --check-prefix=FUN %t/code.cpp
// RUN: %{cc} -O2 -Xclang -mllvm -Xclang -wavesan-ignorelist=%t/sources.txt -c %t/code.cpp -o %t.src.co
// RUN: wavesan-site-dump %t.src.co | FileCheck --check-prefix=SRC %t/code.cpp
// RUN: %{cc} -O2 -Xclang -mllvm -Xclang -wavesan-ignorelist=%t/other.txt -c %t/code.cpp -o %t.other.co
// RUN: wavesan-site-dump %t.other.co | FileCheck --check-prefix=ATTRIBUTE %t/code.cpp
// RUN: %{cc} -O2 -Xclang -mllvm -Xclang -wavesan-ignorelist=%t/kernels.txt -c %t/code.cpp -o %t.kernel.co
// RUN: wavesan-site-dump %t.kernel.co | FileCheck --check-prefix=LEFTOUT %t/code.cpp
// RUN: %{cc} -O2 -Xclang -mllvm -Xclang '-wavesan-kernels=app::*;!tall;!marked' -c %t/code.cpp -o %t.kernels.co
// RUN: wavesan-site-dump %t.kernels.co | FileCheck --check-prefix=LEFTOUT %t/code.cpp
// RUN: llvm-nm %t.kernels.co | FileCheck --check-prefix=SYMBOLS %t/code.cpp
// RUN: %{cc} -O2 -Xclang -mllvm -Xclang -wavesan-kernels=none -c %t/code.cpp -o %t.none.co
// RUN: wavesan-site-dump %t.none.co | FileCheck --check-prefix=NONE %t/code.cpp
// RUN: not %{cc} -O2 -Xclang -mllvm -Xclang -wavesan-ignorelist=%t/missing.txt -c %t/code.cpp -o %t.missing.co 2>&1 | FileCheck --check-prefix=MISSING %t/code.cpp
// RUN: not %{cc} -O2 -Xclang -mllvm -Xclang -wavesan-ignorelist=%t/broken.txt -c %t/code.cpp -o %t.broken.co 2>&1 | FileCheck --check-prefix=BROKEN %t/code.cpp
//--- functions.txt
[wavesan]
fun:app::plain*
//--- sources.txt
src:*/helper.h
//--- other.txt
[address]
fun:*
src:*
//--- kernels.txt
kernel:tall
kernel:app::marked
//--- broken.txt
what is this
//--- helper.h
__device__ inline int fromHeader(int *from, int i) { return from[i]; }
//--- code.cpp
#include "device.h"
#include "helper.h"
#include "wavesan/attributes.h"

__shared__ int bins[64];
WAVESAN_IGNORE __device__ void rough(int i) {
  bins[i] = 1;
  __scoped_atomic_fetch_add(&bins[i + 1], 1, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_WRKGRP);
  syncThreads();
}
namespace app {
__device__ void plainAdd(int i) { bins[i] += 2; }
__global__ void wide(int *out) {
  rough(threadX());
  plainAdd(threadX());
  out[threadX()] = fromHeader(bins, 63 - threadX());
}
__global__ void tall(int *out) { out[threadX()] = 1; }
WAVESAN_IGNORE __global__ void marked(int *out) {
  plainAdd(threadX());
  out[threadX()] = fromHeader(bins, 63 - threadX());
}
} // namespace app

// ATTRIBUTE: kernel _ZN3app4wideEPi twin _ZN3app4wideEPi.wavesan
// ATTRIBUTE-NEXT: skip 1: ignored: marked with WAVESAN_IGNORE
// ATTRIBUTE-NOT: skip
// ATTRIBUTE: kernel _ZN3app4tallEPi twin _ZN3app4tallEPi.wavesan
// ATTRIBUTE: kernel _ZN3app6markedEPi twin _ZN3app6markedEPi.wavesan granule 2 sites 3 at
// ATTRIBUTE-NEXT: skip 1: ignored: marked with WAVESAN_IGNORE
// ATTRIBUTE-DAG: 'atomicrmw add' of bins
// ATTRIBUTE-DAG: barrier
// ATTRIBUTE-DAG: 'load' of bins {{.*}}plainAdd
// ATTRIBUTE-DAG: 'store' of bins {{.*}}plainAdd
// ATTRIBUTE-DAG: 'load' of bins {{.*}}fromHeader

// FUN: kernel _ZN3app4wideEPi twin
// FUN: skip 1: ignored: marked with WAVESAN_IGNORE
// FUN-NEXT: skip 2: ignored: in the ignore list
// FUN: kernel _ZN3app4tallEPi
// FUN: kernel _ZN3app6markedEPi twin _ZN3app6markedEPi.wavesan granule 2 sites 1 at
// FUN-NOT: {{.*}}plainAdd
// FUN: 'load' of bins {{.*}}fromHeader

// SRC: kernel _ZN3app4wideEPi twin
// SRC: skip 1: ignored: marked with WAVESAN_IGNORE
// SRC-NEXT: skip {{[1-9]}}: ignored: in the ignore list
// SRC: kernel _ZN3app4tallEPi
// SRC-NOT: {{.*}}fromHeader
// SRC: 'store' of bins {{.*}}plainAdd

// LEFTOUT: kernel _ZN3app4tallEPi twin  granule 0 sites 0
// LEFTOUT: kernel _ZN3app6markedEPi twin  granule 0 sites 0
// LEFTOUT: kernel _ZN3app4wideEPi twin _ZN3app4wideEPi.wavesan
// SYMBOLS-NOT: _ZN3app4tallEPi.wavesan
// SYMBOLS: _ZN3app4wideEPi.wavesan

// NONE: kernel _ZN3app4wideEPi twin  granule
// NONE: kernel _ZN3app4tallEPi twin  granule
// NONE: kernel _ZN3app6markedEPi twin  granule
// NONE-NOT: .wavesan

// MISSING: error: wavesan: ignore list: {{.*}}missing.txt
// BROKEN: error: wavesan: ignore list: {{.*}}broken.txt
