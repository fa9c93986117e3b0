// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of every kind that HIP gives to a kernel is restored between passes: what is added to it is there once.
// RUN: %cc %s -o %t
// RUN: %build_tool %examples/replay_tools/digests.c -o %t.so
// RUN: %run90a -o tool=%t.so -- %t > %t.out && FileCheck --input-file=%t.out %s
// CHECK: digests: restored {{[1-9][0-9]*}} bytes
// CHECK: digests: dispatch 1, {{.*}}addToAll{{.*}} pass 2 of 3
// CHECK-NOT: differs
// CHECK: result: ok
#include "twin.h"

constexpr int kCount = 4096, kKinds = 6;

struct All {
  int *of[kKinds];
};

__device__ int variable[kCount];

__global__ void addToAll(All all) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < kKinds; ++k)
    all.of[k][i] += k + 1;
  variable[i] += 9;
}

int main() {
  All all{};
  const size_t bytes = kCount * sizeof(int);
  hipStream_t stream;
  twin::must(hipStreamCreate(&stream), "hipStreamCreate");
  twin::must(hipMalloc(&all.of[0], bytes), "hipMalloc");
  twin::must(hipMallocManaged(&all.of[1], bytes), "hipMallocManaged");
  twin::must(hipHostMalloc(&all.of[2], bytes, hipHostMallocNonCoherent), "hipHostMalloc, coarse");
  twin::must(hipHostMalloc(&all.of[3], bytes, hipHostMallocCoherent), "hipHostMalloc, fine");
  twin::must(hipExtMallocWithFlags(reinterpret_cast<void **>(&all.of[4]), bytes, hipDeviceMallocFinegrained), "hipExtMallocWithFlags");
  std::vector<int> registered(2 * kCount); // in the middle of pages
  twin::must(hipHostRegister(registered.data(), registered.size() * sizeof(int), hipHostRegisterDefault), "hipHostRegister");
  void *device = nullptr;
  twin::must(hipHostGetDevicePointer(&device, registered.data(), 0), "hipHostGetDevicePointer");
  all.of[5] = static_cast<int *>(device) + 100;
  for (int k = 0; k < 5; ++k)
    twin::must(hipMemset(all.of[k], 0, bytes), "hipMemset");
  addToAll<<<kCount / 256, 256, 0, stream>>>(all);
  twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
  for (int k = 0; k < kKinds; ++k) {
    std::vector<int> values(kCount);
    twin::must(hipMemcpy(values.data(), all.of[k], bytes, hipMemcpyDefault), "hipMemcpy");
    for (int value : values)
      if (value != k + 1)
        return std::printf("kind %d: %d\n", k, value), 1;
  }
  std::vector<int> values(kCount);
  twin::must(hipMemcpyFromSymbol(values.data(), HIP_SYMBOL(variable), bytes), "hipMemcpyFromSymbol");
  return twin::compare(values, [](size_t) { return 9; });
}
