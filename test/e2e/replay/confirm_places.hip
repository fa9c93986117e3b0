// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A store in a loop is many accesses. Whether the order of two of them changes the output is found by forcing those that touch the bytes of the report; the order of
// two rounds that touch other places says nothing. Here both waves come to each place, one from each end, and the last one at a place wins.
// RUN: %cc %s -o %t
// RUN: %status 66 %run90a --confirm -- %t > %t.out 2> %t.err && FileCheck --input-file=%t.err %s && FileCheck --check-prefix=RESULT --input-file=%t.out %s
// RUN: %status 66 %run1030 --confirm -- %t > %t.out 2> %t.err && FileCheck --input-file=%t.err %s && FileCheck --check-prefix=RESULT --input-file=%t.out %s
// RUN: %status 66 %run90a --confirm -o hooks=device -- %t > %t.out 2> %t.err && FileCheck --input-file=%t.err %s && FileCheck --check-prefix=RESULT --input-file=%t.out %s
// RUN: %status 66 %run1030 --confirm -o hooks=device -- %t > %t.out 2> %t.err && FileCheck --input-file=%t.err %s && FileCheck --check-prefix=RESULT --input-file=%t.out %s
// RESULT: result: ok
//
// CHECK: race: global memory write-write
// CHECK: kernel inWorkgroup(
// CHECK: wavesan: confirmed: output differs at {{.*}}, dispatch 1
// CHECK: race: global memory write-write
// CHECK: kernel betweenWorkgroups(
// CHECK: wavesan: confirmed: output differs at {{.*}}, dispatch 2
// CHECK: race: LDS write-write
// CHECK: kernel inLds(
// CHECK: wavesan: confirmed: output differs at {{.*}}, dispatch 3
// CHECK: race: global memory write-write
// CHECK: kernel copies(
// CHECK: wavesan: confirmed: output differs at {{.*}}, dispatch 4
#include "twin.h"

constexpr int kPlaces = 8;

__device__ int placeOf(int side, int round) { return side == 0 ? round : kPlaces - 1 - round; }

__global__ void inWorkgroup(int *data) {
  int wave = int(threadIdx.x) / warpSize;
#pragma unroll 1
  for (int i = 0; i < kPlaces; ++i)
    data[placeOf(wave, i)] = wave + 1;
}

__global__ void betweenWorkgroups(int *data) {
#pragma unroll 1
  for (int i = 0; i < kPlaces; ++i)
    data[placeOf(int(blockIdx.x), i)] = int(blockIdx.x) + 1;
}

__global__ void inLds(int *data) {
  __shared__ int places[kPlaces];
  int wave = int(threadIdx.x) / warpSize;
#pragma unroll 1
  for (int i = 0; i < kPlaces; ++i)
    places[placeOf(wave, i)] = wave + 1;
  __syncthreads();
  if (threadIdx.x < kPlaces)
    data[threadIdx.x] = places[threadIdx.x];
}

__global__ void copies(int *data, const int *from) {
  int wave = int(threadIdx.x) / warpSize;
#pragma unroll 1
  for (int i = 0; i < kPlaces; ++i)
    __builtin_memcpy(&data[placeOf(wave, i)], &from[wave], sizeof(int));
}

int main() {
  int warp = 0;
  if (hipDeviceGetAttribute(&warp, hipDeviceAttributeWarpSize, 0) != hipSuccess)
    return std::puts("no device"), 1;
  int *data[4];
  for (int *&d : data)
    d = twin::onDevice(std::vector<int>(kPlaces));
  int *from = twin::onDevice(std::vector<int>{1, 2});
  inWorkgroup<<<1, 2 * warp>>>(data[0]);
  betweenWorkgroups<<<2, warp>>>(data[1]);
  inLds<<<1, 2 * warp>>>(data[2]);
  copies<<<1, 2 * warp>>>(data[3], from);
  int wrong = 0;
  for (int *d : data)
    for (int value : twin::fromDevice(d, kPlaces))
      wrong += value != 1 && value != 2;
  if (wrong)
    return std::printf("%d wrong\n", wrong), 1;
  std::puts("result: ok");
}
