// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a replay copies and puts back are the chunks that the passes write, however large the allocations are, and whatever writes: every kernel
// adds to what it finds, so that a pass over anything but the memory before it would be seen in the result, and a digest of all that is kept says
// whether it is as it was.
// RUN: %cc %s -o %t
// RUN: %build_tool %S/Inputs/touched.c -o %t.so
// RUN: %run90a -o tool=%t.so -- %t > %t.out && FileCheck --input-file=%t.out %s
// RUN: %run1030 -o tool=%t.so:threads=4 -- %t > %t.threads && FileCheck --input-file=%t.threads %s
// Originals, without a twin.
// RUN: %run90a -o tool=%t.so:kernels=!*:incomplete_exitcode=0 -- %t > %t.plain && FileCheck --input-file=%t.plain %s
//
// CHECK-NOT: AS IT WAS
// 64 MiB, of which 40 waves write 256 bytes each.
// CHECK: tool: {{.*}}sparse{{.*}} kept 102{{[4-9]}} copied {{[01]$}}
// CHECK-NEXT: tool: {{.*}}sparse{{.*}} restored 40 copied 4{{[01]$}}
// CHECK-NEXT: tool: {{.*}}sparse{{.*}} restored 40 copied 4{{[01]$}}
// Chunks that depend on the order of workgroups: each pass writes 32, and others than the one before.
// CHECK: tool: {{.*}}byTicket{{.*}} copied {{[01]$}}
// CHECK-NEXT: tool: {{.*}}byTicket{{.*}} restored {{3[23]}} copied 3{{[2-4]$}}
// CHECK: tool: {{.*}}byTicket{{.*}} restored {{3[23]}} copied {{[0-9]+}} more{{$}}
// CHECK-NOT: AS IT WAS
// Of inline assembly the compiler knows no stores: all is kept, and what the host sees is copied before.
// CHECK: tool: {{.*}}otherWays{{.*}} kept {{1[01][0-9][0-9]}} copied {{[1-9]?[0-9]$}}
// CHECK-NEXT: tool: {{.*}}otherWays{{.*}} restored 5 copied {{[1-9]?[0-9]$}}
// CHECK-NOT: AS IT WAS
// Memory of which the host might write: as ever.
// CHECK: tool: {{.*}}toHost{{.*}} kept [[N:1[67]]] copied [[N]]
// CHECK: tool: {{.*}}toHost{{.*}} restored 1 copied [[N]]
// CHECK-NOT: AS IT WAS
// A pointer out of memory.
// CHECK: tool: {{.*}}through{{.*}} kept {{1[01][0-9][0-9]}} copied {{[1-9]?[0-9]$}}
// CHECK-NEXT: tool: {{.*}}through{{.*}} restored 1 copied {{[1-9]?[0-9]$}}
// CHECK-NOT: AS IT WAS
// CHECK: result: ok
#include "twin.h"

#include <cstring>

constexpr size_t kChunk = 64 * 1024 / sizeof(int), kChunks = 1024;
constexpr int kWaves = 40, kGroups = 32;

__global__ void sparse(int *huge) { huge[blockIdx.x * 25 * kChunk + 999 + threadIdx.x] += 1; }

__global__ void byTicket(int *huge, int *counter) {
  __shared__ int ticket;
  if (threadIdx.x == 0)
    ticket = atomicAdd(counter, 1);
  __syncthreads();
  huge[(ticket * kGroups + blockIdx.x) * kChunk + 77 + threadIdx.x] += 1;
}

__global__ void otherWays(int *huge) {
  const size_t lane = threadIdx.x;
  int *const at = huge + 100 * kChunk;
  atomicAdd(at + lane, 1);
  int *const second = at + 10 * kChunk + lane;
  const int value = *second + 1;
  asm volatile("global_store_dword %0, %1, off\n\ts_waitcnt vmcnt(0)" ::"v"(second), "v"(value) : "memory");
  __syncthreads();
  if (lane == 0) {
    std::memcpy(at + 20 * kChunk, at, 64 * sizeof(int));
    std::memset(at + 31 * kChunk - 16, at[0], 128); // over the border of two chunks
  }
}

__global__ void toHost(int *pinned) { pinned[threadIdx.x] += 1; }

__global__ void through(int *const *to) { (*to)[threadIdx.x] += 1; }

static bool isSum(const std::vector<int> &memory, const char *what, long long expected) {
  long long sum = 0;
  for (int value : memory)
    sum += value;
  if (sum != expected)
    std::printf("%s: %lld, not %lld\n", what, sum, expected);
  return sum == expected;
}

int main() {
  int *huge = twin::onDevice(std::vector<int>(kChunks * kChunk)), *gap = nullptr, *counter = twin::onDevice(std::vector<int>(1));
  int *pinned = nullptr;
  twin::must(hipMalloc(&gap, 1 << 20), "hipMalloc");
  twin::must(hipHostMalloc(&pinned, 1 << 20), "hipHostMalloc");
  std::memset(pinned, 0, 1 << 20);
  const auto content = [&] { return twin::fromDevice(huge, kChunks * kChunk); };
  sparse<<<kWaves, 64>>>(huge);
  bool good = isSum(content(), "sparse", 64 * kWaves);
  twin::must(hipMemset(huge, 0, kChunks * kChunk * sizeof(int)), "hipMemset");
  byTicket<<<kGroups, 64>>>(huge, counter);
  good = isSum(content(), "byTicket", 64 * kGroups) && good;
  twin::must(hipMemset(huge, 0, kChunks * kChunk * sizeof(int)), "hipMemset");
  otherWays<<<1, 64>>>(huge);
  good = isSum(content(), "otherWays", 3 * 64 + 32 * 0x01010101) && good;
  toHost<<<1, 64>>>(pinned);
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  good = isSum(std::vector<int>(pinned, pinned + 4096), "toHost", 64) && good;
  int *const to = huge + 900 * kChunk, **place = twin::onDevice(std::vector<int *>{to});
  through<<<1, 64>>>(place);
  good = isSum(twin::fromDevice(to, 4096), "through", 64) && good;
  return good ? std::printf("result: ok\n"), 0 : 1;
}
