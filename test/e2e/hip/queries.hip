// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programs ask: occupancy, attributes of kernels and of the device, priorities and flags of streams, events and their times. Answers hang together.
// RUN: %cc %s -o %t
// RUN: %run90a -- %t 64 2>&1 | FileCheck %s
// RUN: %run1030 -- %t 32 2>&1 | FileCheck %s
// CHECK-DAG: result: ok
// CHECK-DAG: 0 races
#include "streams.h"

#include <cstring>

namespace {

__global__ void local(int *p) {
  __shared__ int buffer[2048];
  buffer[threadIdx.x] = int(threadIdx.x);
  __syncthreads();
  p[threadIdx.x] = buffer[threadIdx.x ^ 1];
}

size_t wrong = 0;
void require(bool condition, const char *what) {
  if (!condition) {
    std::printf("does not hold: %s\n", what);
    ++wrong;
  }
}
#define REQUIRE(...) require(__VA_ARGS__, #__VA_ARGS__)

} // namespace

int main(int, char **argv) {
  const int waveSize = std::atoi(argv[1]);
  int devices = 0, device = -1;
  twin::must(hipGetDeviceCount(&devices), "hipGetDeviceCount");
  twin::must(hipGetDevice(&device), "hipGetDevice");
  REQUIRE(devices == 1 && device == 0);
  REQUIRE(hipSetDevice(1) == hipErrorInvalidDevice);
  (void)hipGetLastError();
  hipDeviceProp_t p;
  twin::must(hipGetDeviceProperties(&p, 0), "hipGetDeviceProperties");
  REQUIRE(p.warpSize == waveSize && std::strncmp(p.gcnArchName, waveSize == 64 ? "gfx90a" : "gfx1030", 6) == 0);
  REQUIRE(p.maxThreadsPerBlock == 1024 && p.sharedMemPerBlock == 65536 && p.multiProcessorCount > 0 && p.clockRate > 0 && p.name[0]);
  REQUIRE(p.cooperativeLaunch == 1 && p.totalGlobalMem > (size_t(1) << 28) && p.maxGridSize[0] >= 1 << 20 && p.maxThreadsDim[2] > 0);
  for (const auto &[attribute, expected] : {std::pair(hipDeviceAttributeWarpSize, waveSize), std::pair(hipDeviceAttributeMaxThreadsPerBlock, 1024),
                                            std::pair(hipDeviceAttributeMultiprocessorCount, p.multiProcessorCount),
                                            std::pair(hipDeviceAttributeMaxSharedMemoryPerBlock, 65536)}) {
    int value = -1;
    twin::must(hipDeviceGetAttribute(&value, attribute, 0), "hipDeviceGetAttribute");
    REQUIRE(value == expected);
  }
  hipFuncAttributes f;
  twin::must(hipFuncGetAttributes(&f, reinterpret_cast<const void *>(local)), "hipFuncGetAttributes");
  REQUIRE(f.sharedSizeBytes == 8192 && f.maxThreadsPerBlock == 1024 && f.numRegs > 0);
  int blocks = 0, more = 0, grid = 0, group = 0;
  twin::must(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, local, 256, 0), "hipOccupancyMaxActiveBlocksPerMultiprocessor");
  twin::must(hipOccupancyMaxActiveBlocksPerMultiprocessor(&more, local, 256, 32768), "hipOccupancyMaxActiveBlocksPerMultiprocessor");
  REQUIRE(blocks >= 1 && blocks <= 8 && more >= 1 && more <= blocks);
  twin::must(hipOccupancyMaxPotentialBlockSize(&grid, &group, local, 0, 0), "hipOccupancyMaxPotentialBlockSize");
  REQUIRE(grid > 0 && group > 0 && group <= 1024 && group % waveSize == 0);

  int least = 0, greatest = 0;
  twin::must(hipDeviceGetStreamPriorityRange(&least, &greatest), "hipDeviceGetStreamPriorityRange");
  REQUIRE(greatest <= 0 && least >= 0);
  int *a = twin::buffer(), *b = twin::buffer();
  for (int priority = greatest; priority <= least; ++priority) {
    hipStream_t s;
    twin::must(hipStreamCreateWithPriority(&s, hipStreamNonBlocking, priority), "hipStreamCreateWithPriority");
    int got = 99;
    unsigned flags = 99;
    twin::must(hipStreamGetPriority(s, &got), "hipStreamGetPriority");
    twin::must(hipStreamGetFlags(s, &flags), "hipStreamGetFlags");
    REQUIRE(got == priority && flags == hipStreamNonBlocking);
    LAUNCH(twin::set, s, a, priority);
    LAUNCH(twin::add, s, a, b, 5);
    twin::must(hipStreamSynchronize(s), "hipStreamSynchronize");
    REQUIRE(hipStreamQuery(s) == hipSuccess);
    int first = 0;
    twin::must(hipMemcpy(&first, b, sizeof first, hipMemcpyDeviceToHost), "hipMemcpy");
    REQUIRE(first == priority + 5);
    twin::must(hipStreamDestroy(s), "hipStreamDestroy");
  }

  const hipStream_t s = twin::stream();
  hipEvent_t begin, middle, end;
  twin::must(hipEventCreate(&begin), "hipEventCreate");
  twin::must(hipEventCreateWithFlags(&middle, hipEventBlockingSync), "hipEventCreateWithFlags");
  twin::must(hipEventCreate(&end), "hipEventCreate");
  float whole = -1, firstPart = -1, secondPart = -1;
  REQUIRE(hipEventElapsedTime(&whole, begin, end) != hipSuccess); // never recorded
  (void)hipGetLastError();
  twin::must(hipEventRecord(begin, s), "hipEventRecord");
  for (int i = 0; i < 20; ++i)
    LAUNCH(twin::set, s, a, i);
  twin::must(hipEventRecord(middle, s), "hipEventRecord");
  local<<<1, 256, 0, s>>>(b);
  twin::must(hipEventRecord(end, s), "hipEventRecord");
  twin::must(hipEventSynchronize(end), "hipEventSynchronize");
  REQUIRE(hipEventQuery(begin) == hipSuccess && hipEventQuery(middle) == hipSuccess);
  twin::must(hipEventElapsedTime(&whole, begin, end), "hipEventElapsedTime");
  twin::must(hipEventElapsedTime(&firstPart, begin, middle), "hipEventElapsedTime");
  twin::must(hipEventElapsedTime(&secondPart, middle, end), "hipEventElapsedTime");
  REQUIRE(whole > 0 && firstPart > 0 && secondPart >= 0 && whole + 0.01f >= firstPart && whole < 60000);
  return twin::verdict(wrong);
}
