// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels read and write every kind of host memory, through the pointer that HIP gives for it; the host sees it after the wait, and writes for the next one.
// RUN: %cc %s -o %t
// RUN: %run90a -- %t 2>&1 | FileCheck %s
// RUN: %run1030 -- %t 2>&1 | FileCheck %s
// CHECK-DAG: result: ok
// CHECK-DAG: 0 races
#include "streams.h"

__global__ void twice(int *p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = p[i] * 2 + 1;
}

size_t wrong = 0;

void use(int *host, int *device) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < twin::kCount; ++i)
      host[i] = i + round;
    LAUNCH(twice, nullptr, device);
    twin::must(hipDeviceSynchronize(), "twice");
    for (int i = 0; i < twin::kCount; ++i)
      wrong += host[i] != (i + round) * 2 + 1;
  }
}

int main() {
  for (const unsigned flags : {unsigned(hipHostMallocDefault), unsigned(hipHostMallocPortable), unsigned(hipHostMallocMapped),
                               unsigned(hipHostMallocWriteCombined), unsigned(hipHostMallocCoherent), unsigned(hipHostMallocNonCoherent)}) {
    int *host = nullptr, *device = nullptr;
    twin::must(hipHostMalloc(reinterpret_cast<void **>(&host), twin::kBytes, flags), "hipHostMalloc");
    twin::must(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), host, 0), "hipHostGetDevicePointer");
    use(host, device);
    twin::must(hipHostFree(host), "hipHostFree");
  }
  for (const unsigned flags : {unsigned(hipMemAttachGlobal), unsigned(hipMemAttachHost)}) {
    int *managed = nullptr;
    twin::must(hipMallocManaged(reinterpret_cast<void **>(&managed), twin::kBytes, flags), "hipMallocManaged");
    use(managed, managed);
    twin::must(hipFree(managed), "hipFree");
  }
  std::vector<int> ordinary(twin::kCount + 1000);
  int *inside = ordinary.data() + 300, *device = nullptr; // not at the beginning of a page
  twin::must(hipHostRegister(inside, twin::kBytes, hipHostRegisterMapped), "hipHostRegister");
  twin::must(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), inside, 0), "hipHostGetDevicePointer");
  use(inside, device);
  hipPointerAttribute_t attributes;
  twin::must(hipPointerGetAttributes(&attributes, device), "hipPointerGetAttributes");
  wrong += attributes.memoryType != hipMemoryTypeHost;
  twin::must(hipHostUnregister(inside), "hipHostUnregister");
  wrong += ordinary[299] != 0 || ordinary[300 + twin::kCount] != 0;
  return twin::verdict(wrong);
}
