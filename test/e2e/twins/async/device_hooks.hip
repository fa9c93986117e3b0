// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device runtime does not check copies yet: it says so, never nothing.
// RUN: %wavesan cc --offload-arch=gfx90a -I%include %S/barrier_without_wait.hip -o %t
// RUN: env WAVESAN_OPTIONS=hooks=device %run90a -- %t > %t.log 2>&1 || true
// RUN: FileCheck %s < %t.log
// CHECK: wavesan: not checked: asynchronous copies to and from LDS
// CHECK: wavesan: checked {{[0-9]+}} accesses
int main() {}
