// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of device malloc that go from one work-item to another by free and malloc are no race, whatever wave and workgroup had them. A block that two workgroups
// use at a time is one, and so is memory beside the heap that only a free and a malloc of different blocks stand between.
// RUN: %cc -DFIXED %s -o %t.fixed
// RUN: %run90a -o check_streams=0 -- %t.fixed 2>&1 | FileCheck --check-prefix=FIXED %s
// RUN: %run1030 -o check_streams=0 -- %t.fixed 2>&1 | FileCheck --check-prefix=FIXED %s
// RUN: %run90a -o check_streams=0:hooks=device -- %t.fixed 2>&1 | FileCheck --check-prefix=FIXED %s
// RUN: %cc %s -o %t
// RUN: %status 66 %run90a -o check_streams=0 -- %t > %t.log 2>&1
// RUN: FileCheck %s < %t.log
// RUN: %status 66 %run1030 -o check_streams=0 -- %t > %t.32.log 2>&1
// RUN: FileCheck %s < %t.32.log
// RUN: %status 66 %run90a -o check_streams=0:hooks=device -- %t > %t.device.log 2>&1
// RUN: FileCheck --check-prefix=DEVICE %s < %t.device.log
// DEVICE-NOT: in reuse(
// DEVICE: 2 races
// FIXED-NOT: not checked
// FIXED-DAG: 0 races
// FIXED-DAG: result: ok
// CHECK-NOT: in reuse(
// CHECK: race: global memory write-read
// CHECK: read {{.*}} at {{.*}}heap_reuse.hip:[[# @LINE + 35]]:
// CHECK: write {{.*}} at {{.*}}heap_reuse.hip:[[# @LINE + 27]]:
// CHECK: race: global memory write-write
// CHECK-DAG: {{.*}}heap_reuse.hip:[[# @LINE + 46]]:
// CHECK-DAG: {{.*}}heap_reuse.hip:[[# @LINE + 42]]:
// CHECK: 2 races
#include "twin.h"

__global__ void reuse(int *out) {
  int sum = 0;
  for (int round = 0; round < 6; ++round) {
    int *p = static_cast<int *>(malloc(16));
    if (!p)
      continue;
    p[0] = int(threadIdx.x) + round;
    p[1] = round;
    sum += p[0] + p[1];
    free(p);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

constexpr int kSet = twin::kFixed ? __ATOMIC_RELEASE : __ATOMIC_RELAXED, kSeen = twin::kFixed ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED;

/// A block that is handed over.
__global__ void handOver(int **slot, int *out) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    int *p = static_cast<int *>(malloc(64));
    p[1] = 2; // handed over
    __hip_atomic_store(slot, p, kSet, __HIP_MEMORY_SCOPE_AGENT);
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    int *p;
    while (!(p = __hip_atomic_load(slot, kSeen, __HIP_MEMORY_SCOPE_AGENT)))
      __builtin_amdgcn_s_sleep(1);
    out[0] = p[1]; // taken
    free(p);
  }
}

/// The heap orders nothing else: the blocks are different ones.
__global__ void beside(int *data) {
  if (threadIdx.x != 0)
    return;
  void *block = malloc(32 + 1000 * blockIdx.x);
  if (blockIdx.x == 0)
    data[0] = 5; // first
  free(block);
  if (blockIdx.x == 1 && !twin::kFixed)
    data[0] = 6; // second
}

int main() {
  int *out = twin::onDevice(std::vector<int>(256));
  int **slot = twin::onDevice(std::vector<int *>(1));
  reuse<<<4, 64>>>(out);
  size_t wrong = 0;
  const std::vector<int> sums = twin::fromDevice(out, 256);
  for (int i = 0; i < 256; ++i)
    wrong += sums[i] != 6 * (i % 64) + 2 * 15;
  handOver<<<2, 64>>>(slot, out);
  wrong += twin::fromDevice(out, 1)[0] != 2;
  beside<<<2, 64>>>(out);
  wrong += twin::fromDevice(out, 1)[0] != 5 && twin::kFixed;
  return twin::verdict(wrong);
}
