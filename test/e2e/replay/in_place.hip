// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that update memory in place, on two streams with copies between them, and a __device__ variable: replayed or not, the program sees each
// dispatch once.
// RUN: %cc %s -o %t
// RUN: %build_tool %examples/replay_tools/digests.c -o %t.digests.so
// RUN: %build_tool %examples/replay_tools/timing.c -o %t.timing.so
// RUN: %run90a -- %t > %t.plain
// RUN: FileCheck --check-prefix=RESULT --input-file=%t.plain %s
//
// Five passes each, and the memory is the same after each of them.
// RUN: env DIGEST_PASSES=5 %run90a -o tool=%t.digests.so -- %t > %t.replayed 2> %t.errors
// RUN: FileCheck --check-prefixes=RESULT,DIGESTS --input-file=%t.replayed %s
// RUN: not grep differs %t.replayed
// RUN: FileCheck --check-prefix=LAST --input-file=%t.errors %s
// RESULT-DAG: result: ok
// DIGESTS-DAG: runs once (host_communication)
// LAST: wavesan: checked {{[1-9][0-9]*}} accesses in 2 kernels: 0 races
//
// RUN: env DIGEST_PASSES=5 %run90a -o tool=%t.digests.so -- %t > %t.order
// RUN: FileCheck --check-prefix=ORDER --input-file=%t.order %s
// ORDER: digests: saved {{[0-9]+}} bytes in {{[0-9]+}} regions
// ORDER-NEXT: digests: dispatch 1, {{.*}}increment{{.*}} pass 0 of 5: [[HASH:[0-9a-f]+]]{{$}}
// ORDER-NEXT: digests: restored {{[1-9][0-9]*}} bytes
// ORDER-NEXT: digests: dispatch 1, {{.*}}increment{{.*}} pass 1 of 5: [[HASH]]{{$}}
//
// One pass is no replay. A budget that does not suffice, too.
// RUN: env DIGEST_PASSES=1 %run90a -o tool=%t.digests.so -- %t | FileCheck --check-prefixes=RESULT,ONE %s
// ONE-DAG: runs once (one_pass)
// RUN: env DIGEST_PASSES=2 %run90a -o tool=%t.digests.so:replay_budget_mb=1 -- %t | FileCheck --check-prefixes=RESULT,BUDGET %s
// BUDGET-DAG: runs once (footprint_budget)
//
// The timing tool stops early and leaves the result as it is.
// RUN: %run90a -o incomplete_exitcode=0:tool=%t.timing.so -- %t > %t.timed
// RUN: FileCheck --check-prefixes=RESULT,TIMED --input-file=%t.timed %s
// TIMED-DAG: timing: {{.*}} pass 5: {{[1-9][0-9]*}} ns, best {{[1-9][0-9]*}} ns
//
// A tool that cannot be loaded is one line and an error of WaveSan.
// RUN: %status 67 %run90a -o tool=%t.none.so -- %t 2>&1 | FileCheck --check-prefix=NONE %s
// NONE: wavesan: {{.*}}option tool: {{.*}}none.so
#include "twin.h"

#include <thread>

constexpr int kSize = 256 * 1024;
__device__ int launches;

__global__ void increment(int *data) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] += i;
  if (i == 0)
    atomicAdd(&launches, 1); // by kernels of two streams
}

__global__ void speaks(int value) {
  if (threadIdx.x == 0 && value == 12345)
    printf("never\n");
}

int main() {
  int *first = twin::onDevice(std::vector<int>(kSize)), *second = twin::onDevice(std::vector<int>(kSize)), *pinned = nullptr;
  twin::must(hipHostMalloc(&pinned, kSize * sizeof(int)), "hipHostMalloc");
  hipStream_t streams[2];
  for (hipStream_t &stream : streams)
    twin::must(hipStreamCreate(&stream), "hipStreamCreate");
  for (int round = 0; round < 3; ++round) {
    increment<<<kSize / 256, 256, 0, streams[0]>>>(first);
    twin::must(hipMemcpyAsync(pinned, first, kSize * sizeof(int), hipMemcpyDeviceToHost, streams[0]), "copy");
    twin::must(hipStreamSynchronize(streams[0]), "hipStreamSynchronize");
    std::thread other([&] { increment<<<kSize / 256, 256, 0, streams[1]>>>(second); });
    increment<<<kSize / 256, 256, 0, streams[0]>>>(first);
    other.join();
  }
  speaks<<<1, 64>>>(0);
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  std::vector<int> a = twin::fromDevice(first, kSize), b = twin::fromDevice(second, kSize);
  int count = 0;
  twin::must(hipMemcpyFromSymbol(&count, HIP_SYMBOL(launches), sizeof(count)), "hipMemcpyFromSymbol");
  for (int i = 0; i < kSize; ++i)
    if (a[i] != 6 * i || b[i] != 3 * i || pinned[i] != 5 * i)
      return std::printf("element %d: %d %d %d\n", i, a[i], b[i], pinned[i]), 1;
  if (count != 9)
    return std::printf("%d launches\n", count), 1;
  std::puts("result: ok");
}
