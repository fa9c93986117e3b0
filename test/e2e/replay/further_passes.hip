// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory beyond the budget of the checks is checked in further passes: the race at the end of the buffer is reported, and the program computes what
// it computes without them.
// RUN: %cc %s -o %t && %cc -DFIXED %s -o %t.fixed
// RUN: %status 0 %run90a -o shadow_budget_mb=2 -- %t > %t.plain 2> %t.plain.err
// RUN: FileCheck --check-prefix=PLAIN --input-file=%t.plain.err %s
// PLAIN: wavesan: not checked: kernel addTo(int*), 1 dispatch: some of its accesses: the memory for their records is used up (option shadow_budget_mb){{$}}
// PLAIN: 2 kernels: 0 races
//
// RUN: %status 66 %run90a -o shadow_budget_mb=2:further_passes=100:json_path=%t.json -- %t > %t.out 2> %t.err
// RUN: FileCheck --check-prefix=FOUND -DBYTES=4194304 -DLAST=4194300 --input-file=%t.err %s
// RUN: diff %t.plain %t.out && grep 'result: ok' %t.out
// RUN: %check_formats %t.json
// FOUND: wavesan: race: global memory write-write (write after write), 4 bytes at allocation {{[0-9]+}} ([[BYTES]] bytes) + [[LAST]]
// FOUND-NOT: wavesan: race
// FOUND-NOT: not checked
// FOUND: wavesan: 1 dispatch checked in {{[1-9][0-9]*}} further passes: the memory that shadow_budget_mb had no room for (option further_passes)
// FOUND: 2 kernels: 1 races
//
// The clean twin, on the other wave size.
// RUN: %status 0 %run1030 -o shadow_budget_mb=2:further_passes=100 -- %t.fixed > %t.fixed.out 2> %t.fixed.err
// RUN: FileCheck --check-prefix=CLEAN --input-file=%t.fixed.err %s
// RUN: grep 'result: ok' %t.fixed.out
// CLEAN-NOT: not checked
// CLEAN: wavesan: 1 dispatch checked in {{[1-9][0-9]*}} further passes
// CLEAN: 2 kernels: 0 races
//
// With room for all there is no further pass. What remains unchecked is said.
// RUN: %status 66 %run90a -o further_passes=100 -- %t 2>&1 | FileCheck --check-prefix=ROOM %s
// ROOM-NOT: further pass
// ROOM: 1 races
// RUN: %status 0 %run90a -o shadow_budget_mb=2:further_passes=2 -- %t 2>&1 | FileCheck --check-prefix=FEW %s
// FEW: not checked: kernel addTo(int*), 1 dispatch: some of its accesses: the memory for their records is used up (option shadow_budget_mb; 2 further passes did not cover it)
// RUN: %status 0 %run90a -o shadow_budget_mb=2:further_passes=9:replay_budget_mb=1 -- %t 2>&1 | FileCheck --check-prefix=DECLINED %s
// DECLINED: is used up (option shadow_budget_mb; no further passes: footprint_budget)
// RUN: %status 0 %run90a -o shadow_budget_mb=2:further_passes=9:replay_budget_mb=5 -- %t 2>&1 | FileCheck --check-prefix=DECLINED %s
//
// A race of a further pass is confirmed like any other.
// RUN: %status 66 %run90a --confirm -o shadow_budget_mb=2:further_passes=100 -- %t > %t.confirmed 2> %t.confirmed.err
// RUN: FileCheck --check-prefix=CONFIRMED -DLAST=4194300 --input-file=%t.confirmed.err %s
// RUN: diff %t.plain %t.confirmed
// CONFIRMED: wavesan: confirmed: output differs at allocation {{[0-9]+}} + [[LAST]] with seed 1: race at {{.*}}further_passes.hip
//
// The device runtime records parts of memory, too; a quarter of it here.
// RUN: %cc -DBLOCKS=1024 %s -o %t.less && %cc -DBLOCKS=1024 -DFIXED %s -o %t.less.fixed
// RUN: %status 66 %run90a --confirm -o hooks=device:shadow_budget_mb=8:further_passes=200 -- %t.less > %t.device.out 2> %t.device.err
// RUN: FileCheck --check-prefix=FOUND -DBYTES=1048576 -DLAST=1048572 --input-file=%t.device.err %s
// RUN: FileCheck --check-prefix=CONFIRMED -DLAST=1048572 --input-file=%t.device.err %s
// RUN: grep 'result: ok' %t.device.out
// RUN: %status 0 %run1030 -o hooks=device:shadow_budget_mb=8:further_passes=200 -- %t.less.fixed > %t.device.fixed.out 2> %t.device.fixed.err
// RUN: FileCheck --check-prefix=CLEAN --input-file=%t.device.fixed.err %s
// RUN: grep 'result: ok' %t.device.fixed.out
// RUN: %status 0 %run90a -o hooks=device:shadow_budget_mb=8:further_passes=2 -- %t.less 2>&1 | FileCheck --check-prefix=FEW %s
#include "twin.h"

#include <cstdint>

#ifndef BLOCKS
#define BLOCKS 4096 // 4 MiB
#endif
constexpr int kBlocks = BLOCKS, kSize = 256, kCount = kBlocks * kSize;

__global__ void little(int *out) { out[threadIdx.x] += 1; }
__global__ void addTo(int *out) {
  const int i = blockIdx.x * kSize + threadIdx.x;
  if (i != kCount - 1)
    out[i] += i; // twice, if memory is not what it was
  if (threadIdx.x == 0 && blockIdx.x >= kBlocks - 2) {
#ifdef FIXED
    atomicMax(&out[kCount - 1], int(blockIdx.x));
#else
    out[kCount - 1] = int(blockIdx.x);
#endif
  }
}

int main() {
  int *out = twin::onDevice(std::vector<int>(kCount));
  little<<<1, kSize>>>(out);
  addTo<<<kBlocks, kSize>>>(out);
  const std::vector<int> values = twin::fromDevice(out, kCount);
  uint64_t hash = 1469598103934665603u;
  for (int value : values)
    hash = (hash ^ uint64_t(uint32_t(value))) * 1099511628211u;
  std::printf("hash %llx\n", static_cast<unsigned long long>(hash));
  for (int i = 0; i < kCount - 1; ++i)
    if (values[size_t(i)] != i + (i < kSize))
      return std::printf("element %d: %d\n", i, values[size_t(i)]), 1;
  std::puts("result: ok");
}
