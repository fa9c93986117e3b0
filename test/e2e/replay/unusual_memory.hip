// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory from HIP's stream-ordered pools is restored between passes like any other, freed and allocated again in between, too. Kernels that write
// memory of which WaveSan knows nothing run once: pageable memory of the host, and whatever comes from virtual memory management, which HIP 5.2.3
// exports but does not support on AMD's devices.
// RUN: %cc %s -o %t
// RUN: %build_tool %examples/replay_tools/digests.c -o %t.so
// RUN: %run90a -o tool=%t.so -- %t pools > %t.pools && FileCheck --check-prefix=POOLS --input-file=%t.pools %s
// RUN: not grep -E 'differs|runs once' %t.pools
// POOLS: digests: dispatch 1, {{.*}}addTo{{.*}} pass 2 of 3
// POOLS: digests: dispatch 8, {{.*}}addTo{{.*}} pass 2 of 3
// POOLS: result: ok
// RUN: %run90a -o tool=%t.so -- %t pageable > %t.pageable && FileCheck --check-prefix=PAGEABLE --input-file=%t.pageable %s
// PAGEABLE: digests: dispatch 1, {{.*}}addTo{{.*}} runs once (untracked_memory)
// PAGEABLE: digests: dispatch 2, {{.*}}addTo{{.*}} pass 2 of 3
// PAGEABLE: digests: dispatch 3, {{.*}}addTo{{.*}} pass 2 of 3
// PAGEABLE: result: ok
// RUN: %run90a -o tool=%t.so:incomplete_exitcode=0 -- %t mapped > %t.mapped && FileCheck --check-prefix=MAPPED --input-file=%t.mapped %s
// MAPPED: {{^virtual memory: hipError|runs once \(untracked_memory\)}}
// MAPPED: result: ok
#include "streams.h"

#include <string>

constexpr int kSize = 64 * 1024;

__global__ void addTo(int *to, int value) { to[blockIdx.x * blockDim.x + threadIdx.x] += value; }

static void add(int *to, int value, hipStream_t stream) { addTo<<<kSize / 256, 256, 0, stream>>>(to, value); }

static size_t wrong(const int *memory, int value) {
  size_t count = 0;
  std::vector<int> values(kSize);
  twin::must(hipMemcpy(values.data(), memory, kSize * sizeof(int), hipMemcpyDefault), "hipMemcpy");
  for (int v : values)
    count += v != value;
  return count;
}

static size_t pools() {
  const hipStream_t stream = twin::stream();
  const size_t bytes = kSize * sizeof(int);
  hipMemPoolProps properties = {};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location.type = hipMemLocationTypeDevice;
  hipMemPool_t pool = nullptr;
  twin::must(hipMemPoolCreate(&pool, &properties), "hipMemPoolCreate");
  size_t count = 0;
  for (int round = 0; round < 2; ++round) {
    int *a = nullptr, *b = nullptr;
    twin::must(hipMallocAsync(reinterpret_cast<void **>(&a), bytes, stream), "hipMallocAsync");
    twin::must(hipMallocFromPoolAsync(reinterpret_cast<void **>(&b), bytes, pool, stream), "hipMallocFromPoolAsync");
    twin::must(hipMemsetAsync(a, 0, bytes, stream), "hipMemsetAsync");
    twin::must(hipMemsetAsync(b, 0, bytes, stream), "hipMemsetAsync");
    add(a, 3, stream);
    add(b, 4, stream);
    add(a, 10, stream);
    add(b, 20, stream);
    twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
    count += wrong(a, 13) + wrong(b, 24);
    twin::must(hipFreeAsync(a, stream), "hipFreeAsync");
    twin::must(hipFreeAsync(b, stream), "hipFreeAsync");
    if (round == 0)
      twin::must(hipMemPoolTrimTo(pool, 0), "hipMemPoolTrimTo");
  }
  return count;
}

/// The CPU agent's kernels reach it; so do those of GPUs that page.
static size_t pageable() {
  const hipStream_t stream = twin::stream();
  std::vector<int> memory(kSize), registered(kSize);
  add(memory.data(), 5, stream);
  twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
  // At either of its addresses.
  void *device = nullptr;
  twin::must(hipHostRegister(registered.data(), kSize * sizeof(int), hipHostRegisterDefault), "hipHostRegister");
  twin::must(hipHostGetDevicePointer(&device, registered.data(), 0), "hipHostGetDevicePointer");
  add(registered.data(), 6, stream);
  add(static_cast<int *>(device), 7, stream);
  twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
  size_t count = 0;
  for (int i = 0; i < kSize; ++i)
    count += memory[i] != 5 || registered[i] != 13;
  return count;
}

static size_t mapped() {
  const size_t bytes = 2 << 20;
  void *address = nullptr;
  hipError_t error = hipMemAddressReserve(&address, bytes, 0, nullptr, 0);
  hipMemAllocationProp properties = {};
  properties.type = hipMemAllocationTypePinned;
  properties.location.type = hipMemLocationTypeDevice;
  hipMemGenericAllocationHandle_t handle{};
  if (error == hipSuccess)
    error = hipMemCreate(&handle, bytes, &properties, 0);
  if (error == hipSuccess)
    error = hipMemMap(address, bytes, 0, handle, 0);
  hipMemAccessDesc access = {};
  access.location.type = hipMemLocationTypeDevice;
  access.flags = hipMemAccessFlagsProtReadWrite;
  if (error == hipSuccess)
    error = hipMemSetAccess(address, bytes, &access, 1);
  if (error != hipSuccess) {
    std::printf("virtual memory: %s\n", hipGetErrorName(error));
    static_cast<void>(hipGetLastError());
    return 0;
  }
  twin::must(hipMemset(address, 0, bytes), "hipMemset");
  add(static_cast<int *>(address), 9, nullptr);
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  return wrong(static_cast<int *>(address), 9);
}

int main(int, char **arguments) {
  const std::string what = arguments[1];
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const size_t count = what == "pools" ? pools() : what == "pageable" ? pageable() : mapped();
  if (count != 0)
    return std::printf("%zu elements are wrong\n", count), 1;
  return twin::verdict(0);
}
