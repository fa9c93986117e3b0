// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races are confirmed by delays in the device runtime, as on a GPU: the CPU agent executes that runtime here, and forces no order.
// RUN: %cc %s -o %t
// RUN: %status 66 %run90a --confirm -o hooks=device -- %t > %t.out90 2> %t.err90
// RUN: FileCheck --input-file=%t.err90 %s && FileCheck --check-prefix=RESULT --input-file=%t.out90 %s
// RUN: %status 66 %run1030 --seed=6 --confirm -o hooks=device -- %t > %t.out10 2> %t.err10
// RUN: FileCheck --input-file=%t.err10 %s && FileCheck --check-prefix=RESULT --input-file=%t.out10 %s
// RUN: %run90a -o exitcode=0:hooks=device -- %t | FileCheck --check-prefix=RESULT %s
// RESULT: result: ok
//
// CHECK: race: LDS {{.*}} on `tile`
// CHECK: kernel reversed(
// CHECK: wavesan: confirmed: output differs at allocation {{[0-9]+}} + {{[0-9]+}} with seed {{[16]}}: race at {{.*}}confirm_delays.hip:{{[0-9]+}}:{{[0-9]+}} and {{.*}}confirm_delays.hip:{{[0-9]+}}:{{[0-9]+}}, dispatch 1
//
// CHECK: race: LDS {{.*}} on `round`
// CHECK: kernel rounds(
// CHECK: wavesan: confirmed: output differs at allocation {{[0-9]+}} + {{[0-9]+}} with seed {{[16]}}: race at {{.*}}, dispatch 2
//
// CHECK: race: global memory write-write
// CHECK: kernel lastWins(
// CHECK: wavesan: confirmed: output differs at allocation {{[0-9]+}} + 0 with seed {{[16]}}: race at {{.*}}, dispatch 3
//
// Everybody writes the same value.
// CHECK: kernel agreed(
// CHECK: wavesan: not observed in 8 passes (4 in the order reported, 4 in the other): race at {{.*}}, dispatch 4
//
// Something else differs: the order of additions of floating-point numbers.
// CHECK: kernel sums(
// CHECK: wavesan: output differs, not attributed: race at {{.*}}, dispatch 5
//
// Of two races between the same two waves one changes the output (below): forcing the other one moves it, too, but does not decide it.
// CHECK: kernel mixed(
#include "twin.h"

constexpr int kSize = 128, kRounds = 3;

__global__ void reversed(int *data) {
  __shared__ int tile[kSize];
  int tid = threadIdx.x;
  tile[tid] = data[tid] + 1;
  data[kSize + tid] += tile[kSize - 1 - tid];
}

// In each round anew.
__global__ void rounds(int *data) {
  __shared__ int round[kSize];
  int tid = threadIdx.x, sum = 0;
#pragma unroll 1 // one site
  for (int k = 0; k < kRounds; ++k) {
    round[tid] = k + 1;
    sum = sum * 8 + round[kSize - 1 - tid];
    __syncthreads();
  }
  data[tid] = sum;
}

__global__ void lastWins(int *data) {
  if (threadIdx.x == 0)
    data[0] = int(blockIdx.x) + 1;
  else
    data[blockIdx.x * 64 + threadIdx.x] += 1;
}

__global__ void agreed(int *data) {
  data[kSize] = 7;
  data[threadIdx.x] += 1;
}

__global__ void sums(float *data) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[1] = 7;
  if (threadIdx.x % 32 == 0)
    atomicAdd(&data[0], 1.0f / float(3 + 7 * i));
}

__global__ void mixed(int *data) {
  __shared__ int harmless, decisive;
  int wave = threadIdx.x / warpSize;
  if (wave < 2) {
    harmless = 7;        // CHECK-DAG: wavesan: output differs, not attributed: race at {{.*}}confirm_delays.hip:[[#@LINE]]:{{[0-9]+}}, dispatch 6
    decisive = wave + 1; // CHECK-DAG: wavesan: confirmed: {{.*}}: race at {{.*}}confirm_delays.hip:[[#@LINE]]:{{[0-9]+}}, dispatch 6
  }
  __syncthreads();
  if (threadIdx.x == 0)
    data[0] = harmless + decisive;
}

// Copies and fills, which are checked once and take longer than one access.
struct Eight {
  int of[8];
};
// CHECK: kernel copies(
// CHECK: wavesan: confirmed: {{.*}}, dispatch 7
__global__ void copies(const Eight *in, Eight *out) {
  __shared__ Eight tile[kSize];
  int tid = threadIdx.x;
  tile[tid] = in[tid];
  out[tid] = tile[kSize - 1 - tid];
}

// CHECK: kernel fills(
// CHECK: wavesan: confirmed: {{.*}}, dispatch 8
__global__ void fills(int *out) {
  __shared__ int tile[kSize];
  int tid = threadIdx.x;
  if (tid == 0)
    __builtin_memset(tile, 0, sizeof(tile));
  if (tid == kSize - 1)
    tile[3] = 7;
  __syncthreads();
  out[tid] = tile[tid];
}

// The one order is impossible: who is held goes on at last.
// CHECK: kernel ordered(
// CHECK: wavesan: not observed in 8 passes ({{4 in the order reported, none in the other|none in the order reported, 4 in the other}}; an order that did not come about is not tested): race at {{.*}}, dispatch 9
// CHECK-NOT: benign
// CHECK-NOT: wavesan: {{confirmed|output|not}}
__global__ void ordered(int *data) {
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0) {
    data[0] = 1;
    __hip_atomic_store(&data[1], 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  } else {
    while (__hip_atomic_load(&data[1], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0)
      ;
    data[0] = 2;
  }
}

int main() {
  int *a = twin::onDevice(std::vector<int>(2 * kSize));
  int *b = twin::onDevice(std::vector<int>(kSize));
  int *c = twin::onDevice(std::vector<int>(2 * 64));
  int *d = twin::onDevice(std::vector<int>(kSize + 1));
  float *e = twin::onDevice(std::vector<float>(2));
  int *f = twin::onDevice(std::vector<int>(1));
  Eight *in = twin::onDevice(std::vector<Eight>(kSize, Eight{{1, 2, 3, 4, 5, 6, 7, 8}}));
  Eight *h = twin::onDevice(std::vector<Eight>(kSize));
  int *k = twin::onDevice(std::vector<int>(kSize));
  int *g = twin::onDevice(std::vector<int>(2));
  reversed<<<1, kSize>>>(a);
  rounds<<<1, kSize>>>(b);
  lastWins<<<2, 64>>>(c);
  agreed<<<1, kSize>>>(d);
  sums<<<8, kSize>>>(e);
  mixed<<<1, kSize>>>(f);
  copies<<<1, kSize>>>(in, h);
  fills<<<1, kSize>>>(k);
  ordered<<<2, 64>>>(g);
  // Each dispatch has happened once.
  size_t wrong = 0;
  for (int i : twin::fromDevice(a, 2 * kSize))
    wrong += i != 0 && i != 1;
  std::vector<int> atC = twin::fromDevice(c, 2 * 64), atD = twin::fromDevice(d, kSize + 1), atG = twin::fromDevice(g, 2);
  for (int i = 1; i < 2 * 64; ++i)
    wrong += i != 64 && atC[size_t(i)] != 1;
  for (int i = 0; i < kSize; ++i)
    wrong += atD[size_t(i)] != 1;
  wrong += atD[kSize] != 7 || twin::fromDevice(e, 2)[1] != 7;
  const int atF = twin::fromDevice(f, 1)[0];
  wrong += (atF != 8 && atF != 9) || atG[0] != 2 || atG[1] != 1;
  if (wrong)
    return std::printf("%zu wrong\n", wrong), 1;
  std::puts("result: ok");
}
