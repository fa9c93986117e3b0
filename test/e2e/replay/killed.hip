// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process that is killed in the middle of a replay: what the first pass found has been said, and nothing looks like a clean end.
// RUN: %cc %s -o %t
// RUN: %build_tool %S/Inputs/kills.c -o %t.so
// RUN: %status 66 %run90a -o tool=%t.so -- %t 2> %t.err > %t.out
// RUN: FileCheck --input-file=%t.err %s
// RUN: not grep result %t.out
// CHECK: race: LDS write-read {{.*}} on `tile`
// CHECK: wavesan: program ended by signal 9 (Killed) before its summary; so far: checked {{[1-9][0-9]*}} accesses in 1 kernels: 1 races
#include "twin.h"

__global__ void mirror(int *data) {
  __shared__ int tile[128];
  tile[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = tile[127 - threadIdx.x];
}

int main() {
  int *data = twin::onDevice(twin::counting<int>(128));
  mirror<<<1, 128>>>(data);
  twin::fromDevice(data, 128);
  std::puts("result: ok");
}
