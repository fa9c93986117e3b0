// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device runtime notes which chunks of 4 KiB a kernel writes, by stores of any width, over the borders of chunks, unaligned, by atomics, copies and
// fills, through generic pointers, in loops, functions and recursion, and at the end of an allocation: restores compare these alone, a digest says that
// memory is as it was, and the program's result is that of a run without a replay. Every kernel adds to what it finds.
// RUN: %cc %s -o %t
// RUN: %build_tool %S/Inputs/compared.c -o %t.so
// RUN: %run90a -- %t > %t.once
// RUN: %run90a -o tool=%t.so:hooks=device -- %t > %t.device
// RUN: FileCheck --input-file=%t.device %s
// RUN: grep result: %t.once > %t.expected && grep result: %t.device > %t.found && diff %t.expected %t.found
// RUN: %run1030 -o tool=%t.so:hooks=device:threads=4 -- %t > %t.threads && FileCheck --input-file=%t.threads %s
// RUN: grep result: %t.threads > %t.found && diff %t.expected %t.found
// Without optimisation everything goes through memory.
// RUN: %cc -O0 %s -o %t.O0
// RUN: %run90a -o tool=%t.so:hooks=device -- %t.O0 > %t.slow && FileCheck --input-file=%t.slow --check-prefix=O0 %s
// RUN: grep result: %t.slow > %t.found && diff %t.expected %t.found
// A pass of the original notes nothing.
// RUN: env COMPARED_PLAIN=1 %run90a -o tool=%t.so:hooks=device -- %t > %t.plain && FileCheck --input-file=%t.plain --check-prefix=PLAIN %s
// RUN: grep result: %t.plain > %t.found && diff %t.expected %t.found
// No room for the map: as without it.
// RUN: %run90a -o tool=%t.so:hooks=device:replay_budget_mb=1:replay_pinned_mb=63 -- %t > %t.tight && FileCheck --input-file=%t.tight --check-prefix=TIGHT %s
// RUN: grep result: %t.tight > %t.found && diff %t.expected %t.found
//
// O0-NOT: AS IT WAS
// TIGHT-NOT: AS IT WAS
// TIGHT: compared 16384
// TIGHT-NOT: AS IT WAS
// PLAIN-NOT: AS IT WAS
// PLAIN: tool: {{.*}}widths{{.*}} compared 11 restored 11{{$}}
// PLAIN: tool: {{.*}}widths{{.*}} compared 163{{[0-9]+}} restored
// PLAIN-NOT: AS IT WAS
// CHECK-NOT: AS IT WAS
// 64 MiB.
// CHECK: tool: {{.*}}widths{{.*}} kept 16384 copied 16384
// CHECK-NEXT: tool: {{.*}}widths{{.*}} compared 11 restored 11{{$}}
// CHECK-NEXT: tool: {{.*}}widths{{.*}} compared 11 restored 11{{$}}
// CHECK: tool: {{.*}}atomics{{.*}} compared 6 restored 6{{$}}
// CHECK: tool: {{.*}}ranges{{.*}} compared 29 restored 29{{$}}
// CHECK: tool: {{.*}}generic{{.*}} compared 2 restored 2{{$}}
// CHECK: tool: {{.*}}called{{.*}} compared 10 restored 10{{$}}
// CHECK: tool: {{.*}}assembled{{.*}} compared 1 restored 1{{$}}
// CHECK: tool: {{.*}}tail{{.*}} compared 2 restored 2{{$}}
// CHECK: tool: {{.*}}conditional{{.*}} compared 1 restored 1{{$}}
// Some writes have no hook: nothing is relied on.
// CHECK: tool: {{.*}}unknown{{.*}} compared 163{{[0-9]+}} restored
// CHECK-NOT: AS IT WAS
// CHECK: result:
#include "twin.h"

#include <cstring>

constexpr size_t kChunk = 4096, kBytes = 64 << 20, kTail = 5000;

template <class T> struct __attribute__((packed)) Unaligned {
  T value;
};
struct alignas(16) Wide {
  unsigned long long a, b;
};
static __device__ char *chunk(char *memory, size_t number) { return memory + number * kChunk; }

__global__ void widths(char *m) {
  if (threadIdx.x != 0)
    return;
  *(volatile unsigned char *)(chunk(m, 100) + 4095) += 1;
  *(volatile unsigned short *)(chunk(m, 200) + 2) += 1;
  *(volatile unsigned *)(chunk(m, 300) + 4) += 1;
  *(volatile unsigned long long *)(chunk(m, 400) + 8) += 1;
  Wide *wide = (Wide *)(chunk(m, 500) + 16);
  *wide = Wide{wide->a + 1, wide->b + 2};
  // Over borders: two chunks each.
  auto *two = (Unaligned<unsigned short> *)(chunk(m, 601) - 1);
  two->value = (unsigned short)(two->value + 0x101);
  auto *four = (Unaligned<unsigned> *)(chunk(m, 701) - 3);
  four->value += 0x01010101;
  auto *eight = (Unaligned<unsigned long long> *)(chunk(m, 801) - 7);
  eight->value += 0x0101010101010101;
}

__global__ void atomics(char *m) {
  atomicAdd((int *)chunk(m, 1000), 1);
  atomicCAS((unsigned long long *)chunk(m, 1100) + threadIdx.x, 0ull, threadIdx.x + 1ull);
  atomicExch((int *)chunk(m, 1200) + threadIdx.x, int(threadIdx.x) + 5);
  __hip_atomic_store((int *)chunk(m, 1300) + threadIdx.x, 3, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  atomicAdd((float *)chunk(m, 1400), 1.0f);
  atomicMax((unsigned long long *)chunk(m, 1500), 77ull);
}

__global__ void ranges(char *m, size_t n) {
  if (threadIdx.x != 0)
    return;
  memset(chunk(m, 2001) - 1, m[0] + 1, n);               // 20 chunks and two borders
  memcpy(chunk(m, 2100), chunk(m, 2001), 5 * kChunk);    // a known length
  __builtin_memmove(chunk(m, 2201) - 1, chunk(m, 2001), n / 10 + 1);
}

__global__ void generic(char *m, char **places) {
  __shared__ char tile[64];
  char own[64];
  for (int i = 0; i < 64; ++i)
    own[i] = char(i);
  tile[threadIdx.x] = char(threadIdx.x);
  __syncthreads();
  char *to[3] = {tile, own, chunk(m, 3000)};
  for (int i = 0; i < 3; ++i)
    to[(threadIdx.x + i) % 3][threadIdx.x] += 1;
  __syncthreads();
  places[0][threadIdx.x] += char(own[threadIdx.x] + tile[threadIdx.x]);
}

static __device__ __attribute__((noinline)) void store(int *to) { *to += 2; }
static __device__ __attribute__((noinline)) void deep(char *m, int n) {
  if (n == 0)
    return;
  store((int *)chunk(m, n));
  deep(m, n - 1);
}
__global__ void called(char *m) {
  if (threadIdx.x != 0)
    return;
  for (int i = 0; i < 5; ++i)
    store((int *)chunk(m, 4000 + 10 * i));
  deep(chunk(m, 4100), 5);
}

__global__ void assembled(char *m) {
  int *const at = (int *)chunk(m, 5000) + threadIdx.x;
  const int value = *at + 1;
#if __AMDGCN_WAVEFRONT_SIZE == 64
  asm volatile("global_store_dword %0, %1, off\n\ts_waitcnt vmcnt(0)" ::"v"(at), "v"(value) : "memory");
#else
  *at = value;
#endif
}

__global__ void tail(char *m) {
  m[kTail - 1] += 1;
  if (threadIdx.x == 0)
    m[0] += 1;
}

/// Lanes that do not write.
__global__ void conditional(char *m) {
  if (threadIdx.x % 3 == 1)
    ((int *)chunk(m, 6000))[threadIdx.x] += 1;
  else if (m[threadIdx.x] == 99)
    ((int *)chunk(m, 6000 + threadIdx.x))[0] += 1;
}

/// An access that nobody checks.
static __device__ __attribute__((disable_sanitizer_instrumentation)) void ignored(int *to) { *to += 1; }
__global__ void unknown(char *m) { ignored((int *)chunk(m, 7000) + threadIdx.x); }

int main() {
  char *m = twin::onDevice(std::vector<char>(kBytes)), *small = twin::onDevice(std::vector<char>(kTail)), **places = nullptr;
  widths<<<1, 64>>>(m);
  atomics<<<1, 64>>>(m);
  ranges<<<1, 64>>>(m, 20 * kChunk + 1);
  places = twin::onDevice(std::vector<char *>{m + 3100 * kChunk});
  generic<<<1, 64>>>(m, places);
  called<<<1, 64>>>(m);
  assembled<<<1, 64>>>(m);
  tail<<<1, 1>>>(small);
  conditional<<<1, 64>>>(m);
  unknown<<<1, 64>>>(m);
  unsigned long long hash = 1;
  for (const std::vector<char> &memory : {twin::fromDevice(m, kBytes), twin::fromDevice(small, kTail)})
    for (char byte : memory)
      hash = (hash ^ (unsigned char)byte) * 0x100000001b3ull;
  std::printf("result: %016llx\n", hash);
  return 0;
}
