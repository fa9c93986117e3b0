// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A snapshot holds what the kernel's stores can reach where that is known, and everything where it is not. Every kernel adds to what it finds: a pass
// that began with what the one before it left would be seen in the result.
// RUN: %cc %s -o %t
// RUN: %build_tool %S/Inputs/snapshots.c -o %t.so
// RUN: %run90a -o tool=%t.so -- %t > %t.out
// RUN: FileCheck --input-file=%t.out %s
// RUN: %wavesan run --device=cpu --gpu=gfx1030 -o tool=%t.so -- %t > %t.32
// RUN: FileCheck --input-file=%t.32 %s
//
// One buffer of 64 KiB and two variables; the megabytes that it reads are not copied. (A small variable of HIP may lie next to the buffer.)
// CHECK: tool: {{.*}}addTo{{.*}} will save 6554{{[45]}} bytes in {{[34]}} regions of more
// CHECK-NEXT: tool: {{.*}}addTo{{.*}} saved 6554{{[45]}} bytes in {{[34]}} regions of more
// CHECK-NEXT: tool: {{.*}}addTo{{.*}} restored 65544 bytes
// CHECK-NEXT: tool: {{.*}}addTo{{.*}} restored 65544 bytes
// Members of structures that are passed by value, backwards from the end of the buffer.
// CHECK: tool: {{.*}}addView{{.*}} saved 6553{{[67]}} bytes in {{[12]}} regions of more
// A pointer out of memory may point anywhere.
// CHECK: tool: {{.*}}addThrough{{.*}} saved {{[0-9]+}} bytes in {{[0-9]+}} regions of all
// A kernel that writes nothing.
// CHECK: tool: {{.*}}readsOnly{{.*}} saved {{[01]}} bytes in {{[01]}} regions of more
// CHECK-NEXT: tool: {{.*}}readsOnly{{.*}} restored 0 bytes
// CHECK: result: ok
#include "twin.h"

constexpr int kCount = 16 * 1024, kInputs = 4 << 20;
static __device__ int launches;
namespace {
__device__ int hidden; ///< the host does not know it
}

struct View {
  const int *from;
  int *end; ///< one behind the last
};

__global__ void addTo(const int *from, int *to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] += from[i];
  if (i == 0) {
    atomicAdd(&launches, 1);
    atomicAdd(&hidden, 7);
  }
}
__global__ void addView(View view, int *unused) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  view.end[-1 - i] += view.from[i];
  if (launches < 0 || hidden != 7) // never
    __builtin_trap();
  if (launches == 1000)
    *unused = 1;
}
__global__ void addThrough(int *const *to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  (*to)[i] += 1;
}
__global__ void readsOnly(const int *from) {
  if (from[threadIdx.x] == -1)
    __builtin_trap();
}

int main() {
  int *from = twin::onDevice(std::vector<int>(kInputs, 5)), *to = twin::onDevice(std::vector<int>(kCount));
  int **place = twin::onDevice(std::vector<int *>{to});
  addTo<<<kCount / 256, 256>>>(from, to);
  addView<<<kCount / 256, 256>>>({from, to + kCount}, nullptr);
  addThrough<<<kCount / 256, 256>>>(place);
  readsOnly<<<1, 64>>>(from);
  int count = 0;
  twin::must(hipMemcpyFromSymbol(&count, HIP_SYMBOL(launches), sizeof(count)), "hipMemcpyFromSymbol");
  if (count != 1)
    return std::printf("%d launches\n", count), 1;
  return twin::compare(twin::fromDevice(to, kCount), [](size_t) { return 11; });
}
